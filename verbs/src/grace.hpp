#pragma once

#include <algorithm>
#include <chrono>

namespace iwarp::verbs {

/// What the outcome of a start-up may take beyond its own time-out. It is the provider that judges
/// the peer; this only bounds the wait for its word, and is longer than anything that the provider
/// itself still waits for.
inline constexpr std::chrono::milliseconds kGrace = std::chrono::seconds(15);

/// A time-out with that added; at most a day, which every clock can hold.
inline std::chrono::milliseconds with_grace(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kNothing{0}, kDay = std::chrono::hours(24);
  return std::clamp(timeout, kNothing, kDay) + kGrace;
}

}  // namespace iwarp::verbs
