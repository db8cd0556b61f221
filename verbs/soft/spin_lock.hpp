#pragma once

#include <atomic>
#include <thread>

namespace iwarp::verbs::soft {

/// Guards a few instructions: queue indices, never a system call. Satisfies Lockable.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; locked_.exchange(true, std::memory_order_acquire); ++spins) {
      // The holder may have lost its processor: on few cores spinning on would only delay it.
      if (spins >= kSpinsBeforeYield) std::this_thread::yield();
    }
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpinsBeforeYield = 64;
  std::atomic<bool> locked_{false};
};

}  // namespace iwarp::verbs::soft
