#pragma once

#include <mutex>

#include "iwarp/base/thread_safety.hpp"

namespace iwarp::verbs {

/// A std::mutex of which the compiler knows what it guards.
class IWARP_CAPABILITY("mutex") Mutex {
 public:
  void lock() IWARP_ACQUIRE() { mutex_.lock(); }
  bool try_lock() IWARP_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() IWARP_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a lock, a Mutex or a SpinLock, for as long as it lives.
template <typename Lock>
class IWARP_SCOPED_CAPABILITY Guard {
 public:
  explicit Guard(Lock& lock) IWARP_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  /// The caller holds it already, by try_lock().
  Guard(Lock& lock, std::adopt_lock_t) IWARP_REQUIRES(lock) : lock_(lock) {}
  ~Guard() IWARP_RELEASE() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace iwarp::verbs
