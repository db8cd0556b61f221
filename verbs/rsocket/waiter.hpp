#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "iwarp/base/of_thread.hpp"
#include "iwarp/process/descriptor.hpp"
#include "iwarp/process/forks.hpp"

namespace iwarp::rsocket {

using Clock = std::chrono::steady_clock;
/// Until when to wait; without one, for ever.
using Deadline = std::optional<Clock::time_point>;

[[nodiscard]] inline bool passed(const Deadline& deadline) {
  return deadline && Clock::now() >= *deadline;
}

/// A thread that sleeps until something happens to sockets. Each thread has one.
class Waiter {
 public:
  static Waiter& of_this_thread();

  /// Ends the sleep under way, or the next one. From any thread.
  void wake() const;
  /// Sleeps until wake(), the deadline, or what poll(2) waits for on `fds`, whose revents it fills
  /// in. Returns 0 or an errno, EINTR for instance. The last of `fds` is this waiter's own.
  int sleep(std::span<pollfd> fds, const Deadline& deadline, const sigset_t* mask = nullptr) const;
  /// The entry that must be the last of a sleep's.
  [[nodiscard]] pollfd entry() const {
    return {.fd = event_.get(), .events = POLLIN, .revents = 0};
  }

 private:
  friend class OfThread<Waiter>;
  Waiter();
  process::Descriptor event_;
  process::Origin origin_;
};

/// The waiters that want to hear of one socket. Guarded by the socket's mutex.
class Waiters {
 public:
  void add(Waiter& waiter) { list_.push_back(&waiter); }
  void remove(const Waiter& waiter);
  void wake_all() const;

 private:
  std::vector<Waiter*> list_;
};

}  // namespace iwarp::rsocket
