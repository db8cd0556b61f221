#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "soft/spin_lock.hpp"

namespace iwarp::verbs::soft {

/// The time for which this process has run: the steady clock without the gaps in which it was
/// stopped, frozen or suspended. The peer and the network cannot be blamed for these, so that no
/// deadline may pass in them. A gap shows as two looks that are further apart than kMostGap; of it
/// that much counts. A thread that keeps deadlines looks more often than that. Any thread may look.
class RunningClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kMostGap{500};

  /// The running time at `now`, which is the steady clock's. Never goes back.
  Time look(Time now) {
    const Guard lock(lock_);
    const Time last = last_.value_or(now);
    if (now - last > kMostGap) skipped_ += now - last - kMostGap;
    last_ = std::max(last, now);
    return *last_ - skipped_;
  }

 private:
  SpinLock lock_;
  std::optional<Time> last_ IWARP_GUARDED_BY(lock_);  // none before the first look
  Time::duration skipped_ IWARP_GUARDED_BY(lock_){0};
};

}  // namespace iwarp::verbs::soft
