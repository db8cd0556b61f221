#pragma once

#include <chrono>

#include "perf/measured/histogram.hpp"
#include "perf/rdma/link.hpp"

namespace iwarp::cli::perf {

/// The client's side of the measured loops over iWARP: it owns the memory and posts the requests.
class Initiator {
 public:
  using Clock = std::chrono::steady_clock;

  /// Allocates and registers the memory. `link` is not connected yet and outlives this.
  Initiator(Link& link, const Workload& workload);

  /// The memory for the server's Writes.
  [[nodiscard]] verbs::RemoteBuffer target() const { return target_region_.remote(); }
  /// Makes the requests for the server's memory. Call once, before the first run.
  void aim_at(const Ready& server);
  /// Puts the memory in its first state; before the server's loop starts.
  void reset();

  /// Moves messages until `deadline` and waits for the last of them; returns how many. Latencies
  /// of round trips go into `latencies`.
  std::uint64_t run(Clock::time_point deadline, Histogram& latencies);

 private:
  std::uint64_t stream(Clock::time_point deadline);
  void post_lists(std::uint32_t room);
  [[nodiscard]] std::uint32_t room() const;
  void drain();
  template <typename RoundTrip>
  std::uint64_t repeat(Clock::time_point deadline, Histogram& latencies, RoundTrip round_trip);
  void send_and_receive();
  void write_and_watch();
  void read_once();

  Link& link_;
  Workload workload_;
  Places places_;
  Buffer source_, target_;
  verbs::MemoryRegion source_region_, target_region_;
  std::optional<SendRing> requests_;
  std::uint32_t window_ = 0;     // Sends that the server has receives for
  std::uint64_t posted_ = 0;     // of this run
  std::uint64_t completed_ = 0;  // of this run
  std::uint64_t credited_ = 0;   // of this run: taken by the server
  std::uint8_t sequence_ = 0;    // last octet of the Writes that are watched
};

}  // namespace iwarp::cli::perf
