#pragma once

#include <algorithm>
#include <chrono>

#include "iwarp/base/deadline.hpp"

namespace iwarp::verbs {

/// Waits in steps, by `wait_for(step)`, which says whether what is waited for is there. False when
/// `timeout` has passed, in the time in which this process ran: after a stop the provider's threads
/// read what has come meanwhile, and the caller shall not be faster than they.
template <typename WaitFor>
bool wait_patiently(std::chrono::milliseconds timeout, WaitFor wait_for) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kNothing{0}, kTurn{1}, kLongest = kLongestWait;
  timeout = std::clamp(timeout, kNothing, kLongest);
  Deadline deadline(Clock::now(), timeout);
  for (auto step = deadline.next_look(); !wait_for(step);) {
    switch (deadline.look(Clock::now())) {
      case Deadline::Verdict::kWait: step = deadline.next_look(); break;
      case Deadline::Verdict::kReadFirst: step = std::min<Clock::duration>(timeout, kTurn); break;
      case Deadline::Verdict::kPassed: return false;
    }
  }
  return true;
}

}  // namespace iwarp::verbs
