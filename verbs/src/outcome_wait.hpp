#pragma once

#include <algorithm>
#include <chrono>

#include "iwarp/base/deadline.hpp"

namespace iwarp::verbs {

/// What the outcome of a start-up may take beyond its own time-out. It is the provider that judges
/// the peer; this only bounds the wait for its word, and is longer than anything that the provider
/// itself still waits for.
inline constexpr std::chrono::milliseconds kBeyondTimeout = std::chrono::seconds(15);

/// A time-out with that added; at most kLongestWait before.
inline std::chrono::milliseconds outcome_wait(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kNothing{0}, kLongest = kLongestWait;
  return std::clamp(timeout, kNothing, kLongest) + kBeyondTimeout;
}

}  // namespace iwarp::verbs
