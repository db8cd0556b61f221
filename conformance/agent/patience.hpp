#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

namespace iwarp::agent {

/// Called between the slices of a wait: looks after the control port. False if the wait is for
/// nothing, because the tester has gone or the agent shall end.
using Attend = std::function<bool()>;

/// Calls `try_for(slice)` until it returns something, `longest` is over, or `attend` says no.
template <typename Try>
auto wait_in_slices(std::chrono::milliseconds longest, const Attend& attend, Try try_for)
    -> decltype(try_for(longest)) {
  using std::chrono::milliseconds;
  constexpr milliseconds kSlice{50};
  const auto deadline = std::chrono::steady_clock::now() + longest;
  for (milliseconds left = longest;;) {
    if (auto got = try_for(std::min(left, kSlice))) return got;
    left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= milliseconds(0) || !attend()) return {};
  }
}

}  // namespace iwarp::agent
