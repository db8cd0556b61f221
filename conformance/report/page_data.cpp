#include "report/page_data.hpp"

#include "report/frame_table.hpp"
#include "report/outcome.hpp"
#include "report/reported_events.hpp"
#include "report/text.hpp"
#include "report/writers.hpp"

namespace iwarp::conform {
namespace {

using Json = nlohmann::json;

// Longer texts, such as commands with the octets of a region, are in report.json in full.
constexpr std::size_t kLongestText = 480, kLongestReason = 1600;

Json cleaned(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& text : texts) all.push_back(clean(text));
  return all;
}

// [kind, time, connection, text, frame, faults]; what is missing at the end is not there, and the
// frame is -1 if there is none.
Json event_of(const ReportedEvent& reported, FrameTable& table) {
  const Event& event = reported.event;
  const bool shown = !event.octets.empty() && !reported.framed;
  Json json{name_of(event.kind), microseconds(event.at), event.connection,
            table.text(abridged(clean(reported.decoded.summary), kLongestText)),
            shown ? Json(table.frame(event.octets, reported.decoded.fields)) : Json(-1)};
  if (!event.faults.empty()) json.push_back(cleaned(event.faults));
  return json;
}

Json case_of(const Result& result, FrameTable& table) {
  Json connections = Json::array(), events = Json::array();
  for (const ConnectionEnds& ends : result.transcript.connections()) {
    connections.push_back({clean(end_text(ends.tester_address, ends.tester_port)),
                           clean(end_text(ends.target_address, ends.target_port)),
                           ends.tester_connected ? 1 : 0});
  }
  for (const ReportedEvent& reported : reported_events(result.transcript)) {
    events.push_back(event_of(reported, table));
  }
  return {{"id", clean(result.test.id)},
          {"title", clean(result.test.title)},
          {"layer", clean(result.test.layer())},
          {"agent", result.test.needs == Needs::kAgent},
          {"verdict", name_of(result.verdict)},
          {"text", abridged(clean(result.text), kLongestReason)},
          {"expected", abridged(clean(result.expected), kLongestReason)},
          {"got", abridged(clean(result.got), kLongestReason)},
          {"us", microseconds(result.duration)},
          {"capture", result.transcript.connections().empty() ? "" : capture_name(result)},
          {"connections", std::move(connections)},
          {"events", std::move(events)}};
}

Json requirement_of(const Requirement& one, const Outcomes& outcomes) {
  return {{"id", clean(one.id)},
          {"rfc", clean(one.rfc())},
          {"section", clean(one.section())},
          {"level", clean(one.level)},
          {"text", clean(one.text)},
          {"kind", clean(one.kind)},
          {"result", clean(outcomes.of(one))},
          {"cases", cleaned(one.cases)},
          {"tests", cleaned(one.tests)},
          {"note", clean(one.note)}};
}

// Inside strings, the only place in JSON where they occur.
std::string without_markup(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

std::string page_data_of(const Report& report) {
  const Outcomes outcomes(report);
  FrameTable table;
  Json options = Json::array(), cases = Json::array(), requirements = Json::array();
  Clock::duration duration{};
  for (const auto& [name, value] : report.options) options.push_back({clean(name), clean(value)});
  for (const Result& result : report.results) {
    cases.push_back(case_of(result, table));
    duration += result.duration;
  }
  for (const Requirement& one : report.requirements) {
    requirements.push_back(requirement_of(one, outcomes));
  }
  const Json data{{"tester", clean(report.tester + ' ' + report.version)},
                  {"target", clean(report.target)},
                  {"started", iso_time(report.started)},
                  {"us", microseconds(duration)},
                  {"options", std::move(options)},
                  {"remarks", cleaned(report.remarks)},
                  {"requirements", std::move(requirements)},
                  {"cases", std::move(cases)},
                  {"texts", table.texts()},
                  {"shapes", table.shapes()},
                  {"frames", table.frames()}};
  return without_markup(data.dump());
}

}  // namespace iwarp::conform
