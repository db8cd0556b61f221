#include "perf/measured/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "address.hpp"
#include "context.hpp"
#include "format.hpp"
#include "text/layout.hpp"

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

/// A figure of a flow and its name.
struct Entry {
  const char* name;
  std::string value;
};
using Entries = std::vector<Entry>;

Entries rates_of(const FlowResult& flow, const Workload& workload) {
  const double rate = flow.messages_per_second();
  return {{"rate", human_rate(rate * workload.size)}, {"messages/s", fmt::format("{:.0f}", rate)}};
}

Entries latencies_of(const FlowResult& flow, const Workload& workload) {
  const Histogram all = flow.latencies();
  const auto time = [divisor = latency_divisor(workload.operation)](double nanoseconds) {
    return fmt::format("{:.2f}", nanoseconds / divisor);
  };
  return {{"min", time(all.minimum())},
          {"median", time(all.quantile(0.5))},
          {"p90", time(all.quantile(0.9))},
          {"p99", time(all.quantile(0.99))},
          {"p99.9", time(all.quantile(0.999))},
          {"max", time(all.maximum())},
          {"mean", time(all.mean())}};
}

struct NamedFlow {
  const char* name;
  Entries entries;
};

std::vector<NamedFlow> flows_of(const Results& results) {
  const Workload& workload = results.workload;
  const auto entries_of = workload.figure == Figure::kLatency ? latencies_of : rates_of;
  std::vector<NamedFlow> flows{{"iWARP", entries_of(results.ours, workload)}};
  if (results.baseline) flows.push_back({"raw TCP", entries_of(*results.baseline, workload)});
  return flows;
}

constexpr std::size_t kName = 8, kValue = 9;

/// A line for each flow.
std::string wide_table(const std::vector<NamedFlow>& flows) {
  std::vector<std::size_t> widths;  // of the columns, which all flows have
  for (std::size_t i = 0; i < flows.front().entries.size(); ++i) {
    std::size_t width = std::max(kValue, std::string_view(flows.front().entries[i].name).size());
    for (const NamedFlow& flow : flows) width = std::max(width, flow.entries[i].value.size());
    widths.push_back(width);
  }
  std::string text(kName, ' ');
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += fmt::format(" {:>{}}", flows.front().entries[i].name, widths[i]);
  }
  for (const NamedFlow& flow : flows) {
    text += fmt::format("\n{:<{}}", flow.name, kName);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += fmt::format(" {:>{}}", flow.entries[i].value, widths[i]);
    }
  }
  return text + '\n';
}

/// A line for each figure, in which the flows stand side by side.
std::string narrow_table(const std::vector<NamedFlow>& flows) {
  std::string text(kName, ' ');
  for (const NamedFlow& flow : flows) text += fmt::format(" {:>{}}", flow.name, kValue);
  for (std::size_t i = 0; i < flows.front().entries.size(); ++i) {
    text += fmt::format("\n{:<{}}", flows.front().entries[i].name, kName);
    for (const NamedFlow& flow : flows) {
      text += fmt::format(" {:>{}}", flow.entries[i].value, kValue);
    }
  }
  return text + '\n';
}

std::string table(const Results& results, std::size_t columns) {
  const std::vector<NamedFlow> flows = flows_of(results);
  const std::string wide = wide_table(flows);
  return wide.find('\n') <= columns ? wide : narrow_table(flows);
}

std::string headline(const Results& results) {
  const Workload& workload = results.workload;
  std::string text =
      fmt::format("{} {}", to_string(workload.operation), to_string(workload.figure));
  if (workload.figure == Figure::kLatency) {
    text += fmt::format(" ({}, usec)", latency_kind(workload.operation));
  }
  text += fmt::format(", {} octets", workload.size);
  if (workload.figure == Figure::kBandwidth) text += fmt::format(", depth {}", workload.depth);
  if (workload.list != 0) text += fmt::format(", lists of {}", workload.list);
  return text + fmt::format(", {}, CRC {}, to {}", to_string(workload.waiting),
                            results.connection.crc ? "on" : "off",
                            cli::to_string(results.connection.remote));
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

std::string to_text(const Results& results, std::size_t columns) {
  std::string text = filled(headline(results), columns) + table(results, columns);
  if (const auto ratio = results.ratio()) {
    const char* const of =
        results.workload.figure == Figure::kLatency ? "of the medians" : "of the rates";
    text += filled(fmt::format("iWARP / raw TCP, {}", of), columns,
                   fmt::format("{:<{}} {:>{}.2f}  ", "ratio", kName, *ratio, kValue), kName + 1);
  }
  return text;
}

}  // namespace iwarp::cli::perf
