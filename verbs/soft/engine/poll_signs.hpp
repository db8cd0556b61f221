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
  /// before.
  std::uint32_t note() { return count_.fetch_add(1); }
  /// A thread has polled for several completions and found as many. Returns how many did before.
  /// The poll for one that finds it is no sign: a program may poll once a message, and look at its
  /// memory in between.
  std::uint32_t note_full() { return full_count_.fetch_add(1); }
  /// A thread is about to sleep at the queue.
  void begin_sleep() { sleepers_.fetch_add(1); }
  /// It does so no more. Whether it was the last.
  bool end_sleep() { return sleepers_.fetch_sub(1) == 1; }
  /// The next completion raises an event: no thread need poll until the program has come for it.
  void arm() {
    if (!armed_.exchange(true)) polls_since_armed_.store(0);
  }
  /// It has been raised; the program will come for it,
  void fire() {
    event_waits_.store(true);
    armed_.store(false);
  }
  /// and has come.
  void event_taken() { event_waits_.store(false); }
  /// A thread polls. Whether the program sleeps on events, for all that is known: what there is to
  /// read is the engine's.
  bool poll_leaves_to_engine() {
    if (!armed() && !event_waits()) return false;
    return polls_since_armed_.fetch_add(1, std::memory_order_relaxed) < kPollsBeforeSleep;
  }
  /// Whether each poll looks at each connection, ready or not.
  void set_polls_each(bool each) { polls_each_.store(each); }

  // Any thread's.
  [[nodiscard]] std::uint32_t count() const { return count_.load() + full_count_.load(); }
  [[nodiscard]] std::uint32_t sleepers() const { return sleepers_.load(); }
  /// Whether the engine keeps the sockets, however much others poll.
  [[nodiscard]] bool left_to_engine() const {
    return armed() || (event_waits() && polls_since_armed_.load() < kPollsBeforeSleep);
  }
  [[nodiscard]] bool polls_each() const { return polls_each_.load(); }

 private:
  // A program that polls on and on since it has armed the queue does not sleep on it. Fewer polls
  // are those of one that takes what there is before it sleeps.
  static constexpr std::uint32_t kPollsBeforeSleep = 8;

  [[nodiscard]] bool armed() const { return armed_.load(); }
  [[nodiscard]] bool event_waits() const { return event_waits_.load(); }

  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> full_count_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<bool> armed_{false};
  std::atomic<bool> event_waits_{false};
  std::atomic<std::uint32_t> polls_since_armed_{0};  // that found less than they asked for
  std::atomic<bool> polls_each_{true};
};

/// The signs of both completion queues of a connection, which may be one.
struct Pollers {
  const PollSigns& sends;
  const PollSigns& receives;

  [[nodiscard]] std::uint32_t count() const { return sends.count() + receives.count(); }
  [[nodiscard]] bool asleep() const { return sends.sleepers() != 0 || receives.sleepers() != 0; }
  [[nodiscard]] bool left_to_engine() const {
    return sends.left_to_engine() || receives.left_to_engine();
  }
  /// Whether each poll of either queue looks at the connection, ready or not.
  [[nodiscard]] bool poll_each() const { return sends.polls_each() && receives.polls_each(); }
  [[nodiscard]] bool has(const PollSigns& of) const { return &sends == &of || &receives == &of; }
};

}  // namespace iwarp::verbs::soft
