#include "perf/measured/results.hpp"

#include <algorithm>

namespace iwarp::cli::perf {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

double Slice::messages_per_second() const {
  const double seconds = std::chrono::duration<double>(time).count();
  return seconds > 0 ? static_cast<double>(messages) / seconds : 0;
}

double FlowResult::messages_per_second() const {
  std::vector<double> rates;
  rates.reserve(slices.size());
  for (const Slice& slice : slices) rates.push_back(slice.messages_per_second());
  return median(std::move(rates));
}

Histogram FlowResult::latencies() const {
  Histogram all;
  for (const Slice& slice : slices) all.add(slice.latencies);
  return all;
}

std::uint64_t FlowResult::messages() const {
  std::uint64_t count = 0;
  for (const Slice& slice : slices) count += slice.messages;
  return count;
}

CpuTime FlowResult::client_cpu() const {
  CpuTime sum;
  for (const Slice& slice : slices) sum += slice.client;
  return sum;
}

CpuTime FlowResult::server_cpu() const {
  CpuTime sum;
  for (const Slice& slice : slices) {
    sum += CpuTime{slice.server.process_time, slice.server.thread_time};
  }
  return sum;
}

std::optional<double> Results::ratio() const {
  if (!baseline) return std::nullopt;
  const bool latency = workload.figure == Figure::kLatency;
  const double above = latency ? ours.latencies().quantile(0.5) : ours.messages_per_second();
  const double below =
      latency ? baseline->latencies().quantile(0.5) : baseline->messages_per_second();
  return below > 0 ? std::optional(above / below) : std::nullopt;
}

}  // namespace iwarp::cli::perf
