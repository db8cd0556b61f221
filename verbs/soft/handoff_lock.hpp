#pragma once

#include <atomic>

namespace iwarp::verbs::soft {

/// A lock that nobody waits for. run() does the work now, or leaves it to whoever is inside: the
/// holder looks again after unlocking, so that work asked for is always done once more. A call
/// from inside the work itself asks for another round.
class HandoffLock {
 public:
  /// Sees to it that `work` runs after this call began. All callers pass work of the same effect.
  template <typename Work>
  void run(Work&& work) {
    pending_.store(true);
    while (pending_.load() && !held_.exchange(true)) {
      pending_.store(false);
      work();
      held_.store(false);
    }
  }

  /// Does the work unless somebody is inside; work asked for meanwhile by run() is done too.
  template <typename Work>
  bool try_run(Work&& work) {
    if (held_.exchange(true)) return false;
    work();
    held_.store(false);
    if (pending_.load()) run(work);
    return true;
  }

  /// Ends it: calls `pause` until nobody is inside, does what was asked for meanwhile, and lets
  /// nobody in any more. Work asked for later is not done. To be called once, and not from inside.
  template <typename Pause, typename Work>
  void close(Pause&& pause, Work&& work) {
    while (held_.exchange(true)) pause();
    while (pending_.exchange(false)) work();
  }

  /// Whether somebody is inside, just now; for ever, once it has been closed.
  [[nodiscard]] bool held() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> held_{false};
  std::atomic<bool> pending_{false};
};

}  // namespace iwarp::verbs::soft
