#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace iwarp::cli::file_service {

/// For how long nothing has moved on a connection. Pure: the caller looks at the connection, in
/// steps far below a second, and says when and what it saw. Only time that it has looked at counts:
/// after a stop of this process, a suspension of the machine or a jump of the clock the silence is
/// as long as before, plus one step. Octets end it, not messages: one message may take minutes.
/// Not thread-safe.
class Silence {
 public:
  using Clock = std::chrono::steady_clock;

  /// Something came.
  void end() { length_ = {}; }
  /// A look at `now` found that nothing had come; `octets` have moved so far, in any direction.
  /// Whether the silence lasts for `limit` now. Precondition: limit > 0.
  bool lasts(Clock::duration limit, Clock::time_point now, std::uint64_t octets);

 private:
  std::optional<Clock::time_point> last_look_;
  Clock::duration length_{};
  std::uint64_t octets_ = 0;
};

}  // namespace iwarp::cli::file_service
