#include "iwarp/tcp_offload/readiness.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

namespace iwarp::tcp_offload {
namespace {

constexpr std::size_t kMostEvents = 64;

int checked(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::system_category(), what);
  return descriptor;
}

std::uint32_t bits(Repeat repeat) {
  switch (repeat) {
    case Repeat::kOnce: return EPOLLONESHOT;
    case Repeat::kEdge: return EPOLLET;
    case Repeat::kLevel: break;
  }
  return 0;
}

// A peer's TCP can make urgent data that never comes whole. It is not asked for where it would be
// told for ever.
std::uint32_t bits(Interest interest, Repeat repeat) {
  const std::uint32_t urgent = repeat == Repeat::kEdge ? EPOLLPRI : 0U;
  return (interest.read ? EPOLLIN | EPOLLRDHUP | urgent : 0U) | (interest.write ? EPOLLOUT : 0U) |
         bits(repeat);
}

}  // namespace

bool is_readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

ReadinessSet::ReadinessSet(Repeat repeat)
    : repeat_(repeat), descriptor_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

ReadinessSet::~ReadinessSet() { ::close(descriptor_); }

std::error_code ReadinessSet::add(int descriptor, std::uint64_t token, Interest interest) {
  return add(descriptor, token, interest, repeat_);
}

std::error_code ReadinessSet::add(int descriptor, std::uint64_t token, Interest interest,
                                  Repeat repeat) {
  epoll_event event{bits(interest, repeat), {.u64 = token}};
  if (::epoll_ctl(descriptor_, EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
  return {errno, std::system_category()};
}

std::error_code ReadinessSet::modify(int descriptor, std::uint64_t token, Interest interest) {
  return modify(descriptor, token, interest, repeat_);
}

std::error_code ReadinessSet::modify(int descriptor, std::uint64_t token, Interest interest,
                                     Repeat repeat) {
  epoll_event event{bits(interest, repeat), {.u64 = token}};
  if (::epoll_ctl(descriptor_, EPOLL_CTL_MOD, descriptor, &event) == 0) return {};
  return {errno, std::system_category()};
}

void ReadinessSet::remove(int descriptor) {
  ::epoll_ctl(descriptor_, EPOLL_CTL_DEL, descriptor, nullptr);
}

std::size_t ReadinessSet::wait(std::span<Ready> into,
                               std::optional<std::chrono::milliseconds> timeout) {
  std::array<epoll_event, kMostEvents> events;
  const auto room = static_cast<int>(std::min(into.size(), events.size()));
  const auto longest = std::chrono::milliseconds(INT_MAX);
  const int limit = timeout ? static_cast<int>(std::min(*timeout, longest).count()) : -1;
  const int count = ::epoll_wait(descriptor_, events.data(), room, limit);
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const std::uint32_t seen = events[index].events;
    const auto any_of = [seen](std::uint32_t of) {
      return (seen & (of | EPOLLERR | EPOLLHUP)) != 0;
    };
    into[index] = {events[index].data.u64, any_of(EPOLLIN | EPOLLRDHUP | EPOLLPRI),
                   any_of(EPOLLOUT), any_of(EPOLLRDHUP), (seen & EPOLLPRI) != 0};
  }
  return static_cast<std::size_t>(std::max(count, 0));
}

EventCount::EventCount()
    : descriptor_(checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE), "eventfd")) {}

EventCount::~EventCount() { ::close(descriptor_); }

void EventCount::raise(std::uint64_t count) {
  while (::write(descriptor_, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

bool EventCount::take() {
  std::uint64_t one = 0;
  ssize_t taken = 0;
  do {
    taken = ::read(descriptor_, &one, sizeof one);
  } while (taken < 0 && errno == EINTR);
  return taken == static_cast<ssize_t>(sizeof one);
}

void EventCount::clear() {
  while (take()) {
  }
}

}  // namespace iwarp::tcp_offload
