#pragma once

#include <chrono>

namespace iwarp::cli {

/// After how long a wait looks whether a signal came.
inline constexpr std::chrono::milliseconds kInterruptSlice{100};

/// While one lives, SIGINT, SIGTERM and SIGHUP only set a flag; a second signal of the same kind
/// ends the process the usual way. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether a signal came. Thread-safe.
  [[nodiscard]] static bool interrupted();
  /// Throws a CommandError "interrupted" if a signal came.
  static void check();
};

}  // namespace iwarp::cli
