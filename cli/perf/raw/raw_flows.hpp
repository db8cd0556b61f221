#pragma once

#include <chrono>

#include "perf/measured/histogram.hpp"
#include "perf/raw/raw_stream.hpp"
#include "perf/rdma/buffer.hpp"

/// The baseline: the same messages over plain TCP, as a simple program would send them.
///
/// Bandwidth: each message is one send() of its size; the receiver takes what is there into a
/// buffer of a message's size, 64 KiB at least. The client sends for `write` and `send`, the server
/// for `read`. All octets are zero except the last of a slice, which ends it; the receiver of a
/// client's slice answers with eight octets. Latency: one message under way; `send` and `write`
/// send it back, `read` answers a request of 16 octets with a message.
namespace iwarp::cli::perf {

class RawClient {
 public:
  using Clock = std::chrono::steady_clock;

  RawClient(RawStream stream, const Workload& workload);

  /// Moves messages until `deadline`, the last one arrived at its receiver; returns how many.
  std::uint64_t run(Clock::time_point deadline, Histogram& latencies);

 private:
  std::uint64_t send_stream(Clock::time_point deadline);
  std::uint64_t receive_stream();
  std::uint64_t ping_pong(Clock::time_point deadline, Histogram& latencies);

  RawStream stream_;
  Workload workload_;
  Buffer message_, incoming_;
};

class RawServer {
 public:
  RawServer(RawStream stream, const Workload& workload);

  /// Takes part in one slice; returns the messages seen or sent.
  std::uint64_t run(std::chrono::nanoseconds duration);

 private:
  std::uint64_t receive_stream();
  std::uint64_t send_stream(std::chrono::nanoseconds duration);
  std::uint64_t answer();

  RawStream stream_;
  Workload workload_;
  Buffer message_, incoming_;
};

}  // namespace iwarp::cli::perf
