#include "waiter.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace iwarp::rsocket {

Waiter::Waiter() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Waiter& Waiter::of_this_thread() {
  Waiter& waiter = OfThread<Waiter>::get();
  // After a fork the descriptor would be shared with the parent.
  if (waiter.origin_.inherited()) waiter = Waiter();
  return waiter;
}

void Waiter::wake() const {
  const std::uint64_t one = 1;
  // Fails only if the event is set already.
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

int Waiter::sleep(std::span<pollfd> fds, const Deadline& deadline, const sigset_t* mask) const {
  timespec left{};
  if (deadline) {
    const auto duration = std::max(*deadline - Clock::now(), Clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
    left.tv_sec = seconds.count();
    left.tv_nsec = std::chrono::nanoseconds(duration - seconds).count();
  }
  const int found = ::ppoll(fds.data(), fds.size(), deadline ? &left : nullptr, mask);
  if (found < 0) return errno;
  if (fds.back().revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto taken = ::read(event_.get(), &count, sizeof count);
  }
  return 0;
}

void Waiters::remove(const Waiter& waiter) {
  if (const auto found = std::ranges::find(list_, &waiter); found != list_.end())
    list_.erase(found);
}

void Waiters::wake_all() const {
  for (const Waiter* each : list_) each->wake();
}

}  // namespace iwarp::rsocket
