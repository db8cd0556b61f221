#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace iwarp {

/// As long as clocks can hold: for programs that wait for ever by the largest number there is.
inline constexpr std::chrono::hours kLongestWait{24 * 365};

/// A time after which a peer is given up, if it has been silent. It counts the time in which this
/// process ran: one that is stopped (by a signal, a debugger, a frozen container, a suspended
/// machine), or a thread that gets no processor, finds that the clock has jumped, and nothing of
/// what the peer sent was read meanwhile. And it does not pass before that was read. The owner
/// looks at it every next_look() and acts on the verdict. The time is an argument. Not thread-safe.
class Deadline {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;  ///< What looks are told.
  using Duration = std::chrono::steady_clock::duration;     ///< What is allowed.

  /// What a look says.
  enum class Verdict {
    kWait,       ///< There is time left: look again after next_look().
    kReadFirst,  ///< The time is over: read what the peer has sent, then look again.
    kPassed,     ///< The time is over, and a look has said so before.
  };

  /// The most that one step takes, which is the most that a jump of the clock costs, where the
  /// owner does not say otherwise.
  static constexpr Duration kLongestStep = std::chrono::milliseconds(250);

  /// `allowed` from `now` on; at most kLongestWait.
  constexpr Deadline(TimePoint now, Duration allowed)
      : Deadline(now, allowed,
                 std::clamp(allowed / 8, Duration(std::chrono::milliseconds(1)), kLongestStep)) {}
  /// The same for looks that come up to `step` apart.
  constexpr Deadline(TimePoint now, Duration allowed, Duration step)
      : last_(now),
        left_(std::clamp(allowed, Duration::zero(), Duration(kLongestWait))),
        step_(step) {}

  /// How long to wait until the next look, at most; zero when the time is over.
  [[nodiscard]] constexpr Duration next_look() const { return std::min(left_, step_); }

  /// Judges at `now`. Since the look before no more than a step has counted: so each look brings
  /// the end nearer, however often the process is stopped.
  constexpr Verdict look(TimePoint now) {
    const Duration elapsed = std::max(now - std::exchange(last_, now), Duration::zero());
    left_ -= std::min({elapsed, step_, left_});
    if (left_ != Duration::zero()) return Verdict::kWait;
    return std::exchange(has_said_so_, true) ? Verdict::kPassed : Verdict::kReadFirst;
  }

 private:
  TimePoint last_;
  Duration left_;
  Duration step_;
  bool has_said_so_ = false;  // that the time is over
};

}  // namespace iwarp
