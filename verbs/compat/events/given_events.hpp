#pragma once

#include <condition_variable>
#include <mutex>

namespace iwarp::compat {

/// Counts what a program was given of one object's events and has not acknowledged. Thread-safe.
class GivenEvents {
 public:
  void give();
  /// One of them; without effect if there is none.
  void acknowledge();
  /// Until all are acknowledged.
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable acknowledged_;
  unsigned count_ = 0;
};

}  // namespace iwarp::compat
