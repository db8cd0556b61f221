#pragma once

#include <chrono>
#include <cstdint>

namespace iwarp::cli::file_service {

/// When an end says that it lives: while it takes in data and has nothing to send. Its peer only
/// sees its own socket's buffer drain, which takes a slow link minutes per step. A sign is an RDMA
/// Write of no octets (RFC 5040 §5.1): it takes no receive, and its STag is not looked at (RFC 5041
/// §5.2). Pure; not thread-safe.
class LifeSigns {
 public:
  using Clock = std::chrono::steady_clock;

  /// Signs that may be under way. They complete behind the RDMA Reads posted before them, so many
  /// come together while one Read crawls. Enough for a Read of 1 MiB at 2 kB/s.
  static constexpr std::uint32_t kMost = 128;

  /// What the connection has moved so far, and the signs that are not complete.
  struct Traffic {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::uint32_t signs = 0;
  };
  /// Whether a sign shall be sent at `now`: the peer has heard nothing for a while, and there is
  /// something to tell.
  bool due(Clock::time_point now, const Traffic& traffic);

 private:
  void told(Clock::time_point now, const Traffic& traffic);

  Clock::time_point last_;
  std::uint64_t received_ = 0;  ///< When the peer heard last.
  std::uint64_t sent_ = 0;
};

}  // namespace iwarp::cli::file_service
