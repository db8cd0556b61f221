#include "conform/conform_command.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "address.hpp"
#include "conform/child_agent.hpp"
#include "conform/selection.hpp"
#include "harness/departures.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"
#include "requirements/requirement.hpp"

namespace iwarp::cli {
namespace {

namespace fs = std::filesystem;

struct ConformOptions {
  bool self = false, list = false, markers = false, fail_fast = false;
  std::string target, agent, tester_address, private_data;
  Selection selection;
  int timeout_ms = 3000;
  int revision = 2;
  std::string report, departures;
  std::string agent_program;
};

// --- the list ---

nlohmann::json case_as_json(const conform::Case& one) {
  return {{"id", one.id},
          {"layer", one.layer()},
          {"title", one.title},
          {"needs", one.needs == conform::Needs::kAgent ? "agent" : "listener"},
          {"requirements", requirements_of(one.id)}};
}

nlohmann::json requirement_as_json(const conform::Requirement& one) {
  return {{"id", one.id},       {"rfc", one.rfc()},   {"section", one.section()},
          {"level", one.level}, {"text", one.text},   {"kind", one.kind},
          {"cases", one.cases}, {"tests", one.tests}, {"note", one.note}};
}

void list_as_json(const std::vector<conform::Case>& cases) {
  nlohmann::json all_cases = nlohmann::json::array(), all_requirements = nlohmann::json::array();
  for (const auto& one : cases) all_cases.push_back(case_as_json(one));
  for (const auto& one : conform::requirements())
    all_requirements.push_back(requirement_as_json(one));
  print_json(
      {{"operation", "conform list"}, {"cases", all_cases}, {"requirements", all_requirements}});
}

void list_as_text(const std::vector<conform::Case>& cases) {
  std::size_t width = 0;
  for (const auto& one : cases) width = std::max(width, one.id.size());
  for (const auto& one : cases) {
    std::cout << fmt::format("{:<{}}  {}{}\n", one.id, width, one.title,
                             one.needs == conform::Needs::kAgent ? "" : " (no agent needed)");
  }
}

// --- a run ---

conform::Address address_of(const std::string& text, const char* option,
                            std::uint16_t default_port) {
  const HostPort address = [&] {
    try {
      return parse_host_port(text);
    } catch (const CommandError& error) {
      throw usage_error(fmt::format("{}: {}", option, error.what()));
    }
  }();
  const bool has_port = conform::parse_address(text).has_value();
  return {address.host, has_port ? address.port : default_port};
}

void check_options(const ConformOptions& options) {
  const bool remote = !options.target.empty() || !options.agent.empty();
  if (options.self == remote) {
    throw usage_error(
        options.self
            ? "--self tests this program's own stack: it takes neither --target nor --agent"
            : "conform needs a target: --self, --target HOST:PORT or --agent HOST:PORT");
  }
  if (!options.self && !options.agent_program.empty())
    throw usage_error("--agent-program needs --self");
}

bool is_good(const conform::Result& result) {
  return result.verdict != conform::Verdict::kFail && result.verdict != conform::Verdict::kError;
}

class Run {
 public:
  Run(const ConformOptions& options, const Context& context)
      : options_(options), context_(context), cases_(select(options.selection)) {
    if (!options.departures.empty()) departures_ = conform::Departures::read(options.departures);
    plan_.limits.timeout = std::chrono::milliseconds(options.timeout_ms);
    plan_.revision = static_cast<std::uint8_t>(options.revision);
    plan_.markers = options.markers;
    plan_.tester_address = options.tester_address;
    if (!conform::from_hex(options.private_data, plan_.private_data)) {
      throw usage_error("--private-data: not pairs of hexadecimal digits: " + options.private_data);
    }
    if (!options.target.empty())
      plan_.target = address_of(options.target, "--target", kDefaultPort);
    if (!options.agent.empty())
      plan_.agent = address_of(options.agent, "--agent", conform::kAgentPort);
    if (options.self) {
      child_.emplace(options.agent_program.empty() ? fs::read_symlink("/proc/self/exe")
                                                   : fs::path(options.agent_program));
      plan_.agent = child_->start();
      plan_.revive = [this] { return child_->start(); };
    }
  }

  int run() {
    const InterruptGuard guard;
    conform::Runner runner(plan_);
    for (const conform::Case& one : cases_) {
      InterruptGuard::check();
      conform::Result result = runner.run(one);
      if (const std::string fate = child_ ? child_->fate() : ""; !fate.empty()) {
        result.verdict = conform::Verdict::kFail;
        result.text = "the target " + fate;
      }
      departures_.apply(result);
      std::cout << fmt::format("{:<10} {}{}\n", conform::name_of(result.verdict), one.id,
                               result.text.empty() ? "" : ": " + printable(result.text));
      results_.push_back(std::move(result));
      if (options_.fail_fast && !is_good(results_.back())) break;
    }
    return std::all_of(results_.begin(), results_.end(), is_good) ? 0 : 1;
  }

 private:
  const ConformOptions& options_;
  const Context& context_;
  std::vector<conform::Case> cases_;
  conform::Plan plan_;
  conform::Departures departures_;
  std::optional<ChildAgent> child_;
  std::vector<conform::Result> results_;
};

void run_conform(const ConformOptions& options, Context& context) {
  configure_log(context.log_level);
  if (options.list) {
    const std::vector<conform::Case> cases = select(options.selection);
    return context.output == Output::kJson ? list_as_json(cases) : list_as_text(cases);
  }
  check_options(options);
  try {
    context.exit_status = Run(options, context).run();
  } catch (const conform::Unreachable& error) {
    throw CommandError(error.what());
  }
}

}  // namespace

void add_conform_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("conform", "Test whether an iWARP peer obeys the RFCs");
  const auto options = std::make_shared<ConformOptions>();
  add_report_options(*command, context);
  command->add_flag("--self", options->self, "Test this program's own stack, in another process");
  command->add_option("--target", options->target, "Where the target listens for iWARP")
      ->type_name("HOST:PORT");
  command->add_option("--agent", options->agent, "Where the target's agent listens")
      ->type_name("HOST:PORT");
  command
      ->add_option("--tester-address", options->tester_address,
                   "The address of this machine as the target sees it (default: as the agent does)")
      ->type_name("ADDR");
  command
      ->add_option(
          "--private-data", options->private_data,
          "Private Data of the Requests, in hexadecimal, for a listener that asks for some")
      ->type_name("HEX");
  command->add_flag("--fail-fast", options->fail_fast, "Stop at the first case that fails");
  command->add_flag("--list", options->list, "List the cases; with --json the requirements, too");
  command
      ->add_option(
          "--case", options->selection.ids,
          "Only this case, group of cases, or what tests this requirement; may be repeated")
      ->type_name("ID");
  command->add_option("--layer", options->selection.layers, "Only this layer; may be repeated")
      ->check(CLI::IsMember({"mpa", "ddp", "rdmap"}));
  command
      ->add_option("--timeout", options->timeout_ms,
                   "How long to wait for the target, in milliseconds")
      ->check(CLI::Range(100, 600000))
      ->capture_default_str();
  command->add_flag("--markers", options->markers,
                    "Ask the target for Markers in every connection");
  command->add_option("--rev", options->revision, "MPA revision of the connections")
      ->check(CLI::IsMember({1, 2}))
      ->capture_default_str();
  command
      ->add_option("--report", options->report,
                   "Write JUnit XML, JSON, captures and a page into DIR")
      ->type_name("DIR");
  command
      ->add_option("--departures", options->departures,
                   "Table of the target's known departures: case, requirement, what it does")
      ->type_name("FILE");
  command
      ->add_option("--agent-program", options->agent_program,
                   "With --self: another build of this program that shall be the target")
      ->type_name("FILE");
  command->footer(
      "With --target alone the cases run that need nothing but a listener that accepts. An agent "
      "on\n"
      "the target (conformance/agent) makes buffers, receives and completions accessible for the "
      "rest.\n"
      "Exit status: 0 if nothing failed, 1 otherwise, 2 wrong usage.\n\n"
      "Examples:\n"
      "  iwarp conform --self\n"
      "  iwarp conform --agent 192.0.2.7:7470 --report report\n"
      "  iwarp conform --target 192.0.2.7:7471 --layer mpa\n"
      "  iwarp conform --list --json");
  command->callback([options, &context] { run_conform(*options, context); });
}

}  // namespace iwarp::cli
