#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "iwarp/verbs/connection.hpp"
#include "perf/measured/cpu_time.hpp"
#include "perf/measured/histogram.hpp"
#include "perf/messages.hpp"
#include "perf/workload.hpp"

namespace iwarp::cli::perf {

/// One uninterrupted piece of a measurement.
struct Slice {
  std::uint64_t messages = 0;
  std::chrono::nanoseconds time{};  ///< Until the last message had arrived.
  Histogram latencies;              ///< Of round trips; empty for bandwidth.
  CpuTime client;
  Report server;

  [[nodiscard]] double messages_per_second() const;
};

/// All slices of one flow.
struct FlowResult {
  std::vector<Slice> slices;

  /// The median over the slices.
  [[nodiscard]] double messages_per_second() const;
  /// Of all slices together.
  [[nodiscard]] Histogram latencies() const;
  [[nodiscard]] std::uint64_t messages() const;
  [[nodiscard]] CpuTime client_cpu() const;
  [[nodiscard]] CpuTime server_cpu() const;
};

/// What a client found out.
struct Results {
  Workload workload;
  std::chrono::duration<double> duration{};
  verbs::ConnectionInfo connection;
  FlowResult ours;
  std::optional<FlowResult> baseline;

  /// Ours through baseline: of the rates, or of the median latencies.
  [[nodiscard]] std::optional<double> ratio() const;
};

}  // namespace iwarp::cli::perf
