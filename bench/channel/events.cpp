#include "events.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>

#include "sockets.hpp"

namespace iwarp::bench::channel {

Events::Events() : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

void Events::watch(int descriptor, Readable& readable) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &readable;
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

void Events::forget(int descriptor) {
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr), "epoll_ctl");
}

void Events::turn(int milliseconds) {
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), ready.size(), milliseconds);
  if (count < 0 && errno != EINTR) checked(count, "epoll_wait");
  for (int i = 0; i < count; ++i) {
    auto* const readable = static_cast<Readable*>(ready[static_cast<std::size_t>(i)].data.ptr);
    if (!is_buried(readable)) readable->on_readable();
  }
  graves_.clear();
}

bool Events::is_buried(const Readable* readable) const {
  return std::ranges::find(graves_, readable, &std::unique_ptr<Readable>::get) != graves_.end();
}

}  // namespace iwarp::bench::channel
