#include "perf/measured/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "address.hpp"
#include "context.hpp"
#include "format.hpp"

namespace iwarp::cli::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanosecondsPerMicrosecond = 1000;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

const char* latency_kind(Operation operation) {
  return operation == Operation::kRead ? "round-trip" : "one-way";
}

/// What a round trip is divided by to get the reported latency, in nanoseconds per microsecond.
double latency_divisor(Operation operation) {
  return kNanosecondsPerMicrosecond * (operation == Operation::kRead ? 1 : 2);
}

std::string baseline_shape(const Workload& workload) {
  const std::string waiting = workload.waiting == Waiting::kPolling
                                  ? "both ends repeat non-blocking calls without pause"
                                  : "both ends wait in poll(2)";
  if (workload.figure == Figure::kBandwidth) {
    return fmt::format(
        "one TCP connection without Nagle's delay; {} sends each message by one send() of {} "
        "octets, the other end receives into {} octets; {}",
        workload.operation == Operation::kRead ? "the server" : "the client", workload.size,
        std::max<std::uint32_t>(workload.size, 65536), waiting);
  }
  return fmt::format(
      "one TCP connection without Nagle's delay; {} octets are answered with {} octets, one "
      "exchange at a time; {}",
      workload.operation == Operation::kRead ? 16 : workload.size, workload.size, waiting);
}

Json cpu_json(const CpuTime& time) {
  return {{"all_threads", seconds(time.process)}, {"measuring_thread", seconds(time.thread)}};
}

Json latency_json(const Histogram& latencies, Operation operation) {
  const double divisor = latency_divisor(operation);
  return {{"kind", latency_kind(operation)},
          {"samples", latencies.count()},
          {"min", latencies.minimum() / divisor},
          {"median", latencies.quantile(0.5) / divisor},
          {"p90", latencies.quantile(0.9) / divisor},
          {"p99", latencies.quantile(0.99) / divisor},
          {"p99.9", latencies.quantile(0.999) / divisor},
          {"max", latencies.maximum() / divisor},
          {"mean", latencies.mean() / divisor}};
}

Json slice_json(const Slice& slice, const Workload& workload) {
  Json json = {{"seconds", seconds(slice.time)}, {"messages", slice.messages}};
  if (workload.figure == Figure::kLatency) {
    json["median_us"] = slice.latencies.quantile(0.5) / latency_divisor(workload.operation);
  } else {
    json["bytes_per_second"] = slice.messages_per_second() * workload.size;
  }
  return json;
}

Json flow_json(const FlowResult& flow, const Workload& workload) {
  const double rate = flow.messages_per_second();
  Json json = {{"messages", flow.messages()},
               {"octets", flow.messages() * workload.size},
               {"messages_per_second", rate},
               {"bytes_per_second", rate * workload.size}};
  if (workload.figure == Figure::kLatency) {
    json["latency_us"] = latency_json(flow.latencies(), workload.operation);
  }
  json["cpu_seconds"] = {{"client", cpu_json(flow.client_cpu())},
                         {"server", cpu_json(flow.server_cpu())}};
  json["slices"] = Json::array();
  for (const Slice& slice : flow.slices) json["slices"].push_back(slice_json(slice, workload));
  return json;
}

Json connection_json(const verbs::ConnectionInfo& info) {
  return {{"local", cli::to_string(info.local)},
          {"remote", cli::to_string(info.remote)},
          {"mpa_revision", info.mpa_revision},
          {"crc", info.crc},
          {"markers_sent", info.markers_sent},
          {"markers_received", info.markers_received},
          {"ird", info.ird},
          {"ord", info.ord}};
}

std::string rate_line(const char* name, const FlowResult& flow, const Workload& workload) {
  const double rate = flow.messages_per_second();
  return fmt::format("{:<8} {:>12}   {:>12.0f} messages/s\n", name,
                     human_rate(rate * workload.size), rate);
}

std::string latency_line(const char* name, const FlowResult& flow, const Workload& workload) {
  const Histogram all = flow.latencies();
  const double divisor = latency_divisor(workload.operation);
  return fmt::format("{:<8} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.2f} {:>8.2f}\n", name,
                     all.minimum() / divisor, all.quantile(0.5) / divisor,
                     all.quantile(0.9) / divisor, all.quantile(0.99) / divisor,
                     all.quantile(0.999) / divisor, all.maximum() / divisor, all.mean() / divisor);
}

std::string table(const Results& results) {
  const bool latency = results.workload.figure == Figure::kLatency;
  const auto line = latency ? latency_line : rate_line;
  std::string text;
  if (latency) {
    text += fmt::format("{:<8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}   microseconds, {}\n", "",
                        "min", "median", "p90", "p99", "p99.9", "max", "mean",
                        latency_kind(results.workload.operation));
  }
  text += line("iWARP", results.ours, results.workload);
  if (results.baseline) text += line("raw TCP", *results.baseline, results.workload);
  return text;
}

}  // namespace

std::string to_json(const Results& results) {
  const Workload& workload = results.workload;
  Json json = {{"op", to_string(workload.operation)},
               {"figure", to_string(workload.figure)},
               {"size", workload.size},
               {"depth", workload.depth},
               {"list", workload.list},
               {"duration", results.duration.count()},
               {"waiting", to_string(workload.waiting)},
               {"connection", connection_json(results.connection)},
               {"ours", flow_json(results.ours, workload)}};
  if (results.baseline) {
    json["baseline"] = flow_json(*results.baseline, workload);
    json["baseline"]["shape"] = baseline_shape(workload);
    const auto ratio = results.ratio();
    json["ratio"] = ratio ? Json(*ratio) : Json();
  }
  return json.dump(2);
}

std::string to_text(const Results& results) {
  const Workload& workload = results.workload;
  std::string text = fmt::format("{} {}, {} octets", to_string(workload.operation),
                                 to_string(workload.figure), workload.size);
  if (workload.figure == Figure::kBandwidth) text += fmt::format(", depth {}", workload.depth);
  if (workload.list != 0) text += fmt::format(", lists of {}", workload.list);
  text +=
      fmt::format(", {}, CRC {}, to {}\n", to_string(workload.waiting),
                  results.connection.crc ? "on" : "off", cli::to_string(results.connection.remote));
  text += table(results);
  if (const auto ratio = results.ratio()) {
    text += fmt::format("{:<8} {:>8.2f}   iWARP / raw TCP, {}\n", "ratio", *ratio,
                        workload.figure == Figure::kLatency ? "of the medians" : "of the rates");
  }
  return text;
}

}  // namespace iwarp::cli::perf
