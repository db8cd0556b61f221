#pragma once

#include <algorithm>
#include <chrono>

namespace iwarp::verbs {

/// What the outcome of a start-up may take beyond its own time-out: the way to the waiting thread.
inline constexpr std::chrono::milliseconds kGrace = std::chrono::seconds(1);

/// A time-out with that added; at most a day, which every clock can hold.
inline std::chrono::milliseconds with_grace(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kNothing{0}, kDay = std::chrono::hours(24);
  return std::clamp(timeout, kNothing, kDay) + kGrace;
}

}  // namespace iwarp::verbs
