#pragma once

#include <atomic>
#include <thread>

#include "iwarp/provider/lock.hpp"

namespace iwarp::verbs::soft {

/// Guards a few instructions: queue indices, never a system call. Satisfies Lockable.
class IWARP_CAPABILITY("spin lock") SpinLock {
 public:
  void lock() IWARP_ACQUIRE() {
    for (int spins = 0; locked_.exchange(true, std::memory_order_acquire); ++spins) {
      // The holder may have lost its processor: on few cores spinning on would only delay it.
      if (spins >= kSpinsBeforeYield) std::this_thread::yield();
    }
  }
  bool try_lock() IWARP_TRY_ACQUIRE(true) {
    return !locked_.exchange(true, std::memory_order_acquire);
  }
  void unlock() IWARP_RELEASE() { locked_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpinsBeforeYield = 64;
  std::atomic<bool> locked_{false};
};

}  // namespace iwarp::verbs::soft
