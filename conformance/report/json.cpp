#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/outcome.hpp"
#include "report/reported_events.hpp"
#include "report/text.hpp"
#include "report/writers.hpp"

namespace iwarp::conform {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Of one event; the rest stands in the capture.
constexpr std::size_t kMostOctets = 1024;

OrderedJson event_as_json(const ReportedEvent& reported) {
  const Event& event = reported.event;
  OrderedJson json{{"at_us", microseconds(event.at)},
                   {"kind", name_of(event.kind)},
                   {"summary", reported.decoded.summary}};
  const bool octets = !event.octets.empty();
  const bool concerns_connection =
      octets || (event.text.empty() && event.kind != Event::Kind::kNote);
  if (concerns_connection) json["connection"] = event.connection;
  if (octets) json["size"] = event.octets.size();
  if (octets && !reported.framed) {
    const OctetView all(event.octets);
    json["octets"] = to_hex(all.first(std::min(all.size(), kMostOctets)));
  }
  if (!event.faults.empty()) json["faults"] = event.faults;
  return json;
}

OrderedJson connections_as_json(const Transcript& transcript) {
  OrderedJson all = OrderedJson::array();
  for (const ConnectionEnds& ends : transcript.connections()) {
    all.push_back({{"tester", end_text(ends.tester_address, ends.tester_port)},
                   {"target", end_text(ends.target_address, ends.target_port)},
                   {"tester_connected", ends.tester_connected}});
  }
  return all;
}

OrderedJson result_as_json(const Result& result) {
  OrderedJson json{{"id", result.test.id},
                   {"title", result.test.title},
                   {"layer", result.test.layer()},
                   {"needs", result.test.needs == Needs::kAgent ? "agent" : "listener"},
                   {"verdict", name_of(result.verdict)},
                   {"text", result.text},
                   {"expected", result.expected},
                   {"got", result.got},
                   {"started", iso_time(result.transcript.started_at())},
                   {"duration_us", microseconds(result.duration)},
                   {"connections", connections_as_json(result.transcript)}};
  if (!result.transcript.connections().empty()) json["capture"] = capture_name(result);
  json["events"] = OrderedJson::array();
  for (const ReportedEvent& reported : reported_events(result.transcript)) {
    json["events"].push_back(event_as_json(reported));
  }
  return json;
}

OrderedJson requirements_as_json(const Report& report, std::map<std::string, std::size_t>& counts) {
  const Outcomes outcomes(report);
  OrderedJson all = OrderedJson::array();
  for (const Requirement& one : report.requirements) {
    const std::string outcome = outcomes.of(one);
    ++counts[outcome];
    all.push_back({{"id", one.id},
                   {"rfc", one.rfc()},
                   {"section", one.section()},
                   {"level", one.level},
                   {"text", one.text},
                   {"kind", one.kind},
                   {"result", outcome},
                   {"cases", one.cases},
                   {"tests", one.tests},
                   {"note", one.note}});
  }
  return all;
}

}  // namespace

std::string json_of(const Report& report) {
  OrderedJson options = OrderedJson::object(), verdicts = OrderedJson::object(),
              cases = OrderedJson::array();
  for (const auto& [name, value] : report.options) options[name] = value;
  for (const auto& [verdict, count] : count_verdicts(report.results)) {
    verdicts[std::string(name_of(verdict))] = count;
  }
  for (const Result& result : report.results) cases.push_back(result_as_json(result));
  std::map<std::string, std::size_t> outcomes;
  OrderedJson requirements = requirements_as_json(report, outcomes);
  const OrderedJson json{{"tester", report.tester},
                         {"version", report.version},
                         {"target", report.target},
                         {"started", iso_time(report.started)},
                         {"options", std::move(options)},
                         {"remarks", report.remarks},
                         {"counts", {{"cases", std::move(verdicts)}, {"requirements", outcomes}}},
                         {"requirements", std::move(requirements)},
                         {"cases", std::move(cases)}};
  // What targets say may not be UTF-8.
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

}  // namespace iwarp::conform
