#pragma once

#include <chrono>
#include <cstdint>

#include "context.hpp"

namespace iwarp::cli::perf {

/// How long a peer may show no sign of life, unless the person says otherwise.
inline constexpr std::chrono::seconds kPatience{10};

/// The peer showed no sign of life for as long as it may.
class PeerSilent : public CommandError {
 public:
  using CommandError::CommandError;
};

/// Ends a busy loop in which nothing happens any more, at the cost of a counter. Not thread-safe.
class Patience {
 public:
  explicit Patience(std::chrono::nanoseconds limit = kPatience) { allow(limit); }

  /// From now on, nothing may happen for `limit`.
  void allow(std::chrono::nanoseconds limit);
  /// The same for the limit that there is.
  void renew() { allow(limit_); }
  /// Something happened.
  void progress() { moved_ = true; }
  /// Nothing happened. Once in a while runs check() and returns true.
  bool idle() {
    if ((++idle_ & kSeldom) != 0) return false;
    check();
    return true;
  }
  /// Looks at the clock now: throws a PeerSilent when the limit is over, another CommandError when
  /// a signal came.
  void check();

 private:
  static constexpr std::uint32_t kSeldom = 0xFFF;

  std::chrono::nanoseconds limit_{};
  std::chrono::steady_clock::time_point deadline_;
  std::uint32_t idle_ = 0;
  bool moved_ = false;
};

}  // namespace iwarp::cli::perf
