#include "report/outcome.hpp"
#include "report/reported_events.hpp"
#include "report/text.hpp"
#include "report/writers.hpp"

namespace iwarp::conform {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return ' ' + std::string(name) + "=\"" + xml_escaped(value) + '"';
}

struct Sums {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  Clock::duration time{};

  void add(const Result& result) {
    ++tests;
    time += result.duration;
    switch (result.verdict) {
      case Verdict::kPass: break;
      case Verdict::kFail: ++failures; break;
      case Verdict::kError: ++errors; break;
      case Verdict::kSkip:
      case Verdict::kDeparture: ++skipped; break;
    }
  }

  std::string attributes() const {
    return attribute("tests", std::to_string(tests)) +
           attribute("failures", std::to_string(failures)) +
           attribute("errors", std::to_string(errors)) +
           attribute("skipped", std::to_string(skipped)) + attribute("time", seconds(time));
  }
};

// What happened, a line per event, for a reader that has nothing but the log of a CI run.
std::string log_of(const Result& result) {
  std::string log;
  for (const ReportedEvent& reported : reported_events(result.transcript)) {
    if (reported.framed) continue;
    log += seconds(reported.event.at) + " s " + xml_escaped(name_of(reported.event.kind)) + ": " +
           xml_escaped(reported.decoded.summary) + '\n';
  }
  return log;
}

std::string with_message(const std::string& tag, const Result& result, const std::string& message) {
  std::string text = "      <" + tag + attribute("message", message);
  if (tag == "skipped") return text + "/>\n";
  return text + attribute("type", name_of(result.verdict)) + '>' + xml_escaped(result.test.title) +
         "</" + tag + ">\n";
}

std::string inside(const Result& result) {
  switch (result.verdict) {
    case Verdict::kPass: return {};
    case Verdict::kSkip: return with_message("skipped", result, result.text);
    case Verdict::kDeparture:
      return with_message("skipped", result, "known departure: " + result.text);
    case Verdict::kFail:
      return with_message("failure", result, result.text) + "      <system-out>" + log_of(result) +
             "</system-out>\n";
    case Verdict::kError:
      return with_message("error", result, result.text) + "      <system-out>" + log_of(result) +
             "</system-out>\n";
  }
  return {};
}

std::string test_case(const Result& result) {
  const std::string start = "    <testcase" + attribute("name", result.test.id) +
                            attribute("classname", "conform." + std::string(result.test.layer())) +
                            attribute("time", seconds(result.duration));
  const std::string content = inside(result);
  return content.empty() ? start + "/>\n" : start + ">\n" + content + "    </testcase>\n";
}

std::string properties(const Report& report) {
  std::string text = "    <properties>\n";
  const auto property = [&](std::string_view name, std::string_view value) {
    text += "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  };
  property("tester", report.tester + ' ' + report.version);
  property("target", report.target);
  for (const auto& [name, value] : report.options) property(name, value);
  return text + "    </properties>\n";
}

std::string suite(const Report& report, std::string_view layer) {
  Sums sums;
  std::string cases;
  for (const Result& result : report.results) {
    if (result.test.layer() != layer) continue;
    sums.add(result);
    cases += test_case(result);
  }
  return "  <testsuite" + attribute("name", layer) + sums.attributes() +
         attribute("timestamp", iso_time(report.started)) + ">\n" + properties(report) + cases +
         "  </testsuite>\n";
}

}  // namespace

std::string junit_of(const Report& report) {
  Sums sums;
  for (const Result& result : report.results) sums.add(result);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
                     attribute("name", report.tester) + sums.attributes() + ">\n";
  for (const std::string_view layer : layers_of(report.results)) text += suite(report, layer);
  return text + "</testsuites>\n";
}

}  // namespace iwarp::conform
