#pragma once

#include <atomic>
#include <cstdint>

namespace iwarp::verbs::soft {

/// What a completion queue shows of the threads that poll it, or sleep at it: an engine leaves the
/// sockets behind it to them. Thread-safe.
class PollSigns {
 public:
  // The completion queue's.
  /// A thread has polled and found less than it asked for, or has been woken. Returns how many did
  /// before. A poll that finds enough is no sign: a program may poll once a message, and look at
  /// its memory in between.
  std::uint32_t note() { return count_.fetch_add(1); }
  /// A thread is about to sleep at the queue.
  void begin_sleep() { sleepers_.fetch_add(1); }
  /// It does so no more. Whether it was the last.
  bool end_sleep() { return sleepers_.fetch_sub(1) == 1; }
  /// Whether the next completion raises an event: no thread need poll then.
  void set_armed(bool armed) { armed_.store(armed); }
  /// Whether each poll looks at each connection, ready or not.
  void set_polls_each(bool each) { polls_each_.store(each); }

  // Any thread's.
  [[nodiscard]] std::uint32_t count() const { return count_.load(); }
  [[nodiscard]] std::uint32_t sleepers() const { return sleepers_.load(); }
  [[nodiscard]] bool armed() const { return armed_.load(); }
  [[nodiscard]] bool polls_each() const { return polls_each_.load(); }

 private:
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<bool> armed_{false};
  std::atomic<bool> polls_each_{true};
};

/// The signs of both completion queues of a connection, which may be one.
struct Pollers {
  const PollSigns& sends;
  const PollSigns& receives;

  [[nodiscard]] std::uint32_t count() const { return sends.count() + receives.count(); }
  [[nodiscard]] bool asleep() const { return sends.sleepers() != 0 || receives.sleepers() != 0; }
  [[nodiscard]] bool armed() const { return sends.armed() || receives.armed(); }
  /// Whether each poll of either queue looks at the connection, ready or not.
  [[nodiscard]] bool poll_each() const { return sends.polls_each() && receives.polls_each(); }
  [[nodiscard]] bool has(const PollSigns& of) const { return &sends == &of || &receives == &of; }
};

}  // namespace iwarp::verbs::soft
