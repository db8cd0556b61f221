#pragma once

#include <atomic>

#include "iwarp/base/thread_safety.hpp"
#include "iwarp/process/no_cancel.hpp"

namespace iwarp::verbs::soft {

/// A lock that no thread waits for. run() does the work now, or leaves it to the thread inside:
/// that one looks again after unlocking, so that work asked for is always done once more. A call
/// from inside the work itself asks for another round. A thread that is cancelled inside leaves
/// first: it may be one that polls, in a system call of the work's.
class IWARP_CAPABILITY("handoff lock") HandoffLock {
 public:
  /// Sees to it that `work` runs after this call began. All callers pass work of the same effect.
  template <typename Work>
  void run(Work&& work) {
    if (held_.exchange(true)) {
      pending_.store(true);
    } else {
      work_once(work);
    }
    while (pending_.load() && !held_.exchange(true)) work_once(work);
  }

  /// Does the work unless a thread is inside; work asked for meanwhile by run() is done too.
  template <typename Work>
  bool try_run(Work&& work) {
    if (held_.exchange(true)) return false;
    {
      const Inside inside(held_);
      work();
    }
    if (pending_.load()) run(work);
    return true;
  }

  /// Ends it: calls `pause` until no thread is inside, does what was asked for meanwhile, and lets
  /// none in any more. Work asked for later is not done. To be called once, and not from inside.
  template <typename Pause, typename Work>
  void close(Pause&& pause, Work&& work) {
    while (held_.exchange(true)) pause();
    const process::NoCancel whole;
    while (pending_.exchange(false)) work();
  }

  /// For the compiler: the caller is inside.
  void assert_inside() const IWARP_ASSERT_CAPABILITY(this) {}

  /// Whether a thread is inside, just now, or is to do what was asked for meanwhile; for ever, once
  /// it has been closed.
  [[nodiscard]] bool held() const {
    return pending_.load() || held_.load();  // in this order: work_once() takes one, then the other
  }

 private:
  // What throws leaves, too.
  class Inside {
   public:
    explicit Inside(std::atomic<bool>& held) : held_(held) {}
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { held_.store(false); }

   private:
    std::atomic<bool>& held_;
    const process::NoCancel whole_;
  };

  // By the thread that has taken `held_`. What is asked for from here on is done in another round.
  template <typename Work>
  void work_once(Work& work) {
    const Inside inside(held_);
    if (pending_.load()) pending_.store(false);
    work();
  }

  std::atomic<bool> held_{false};
  std::atomic<bool> pending_{false};
};

}  // namespace iwarp::verbs::soft
