#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "conform/conform_run.hpp"
#include "device.hpp"
#include "help/checks.hpp"
#include "json_output.hpp"
#include "log.hpp"
#include "options.hpp"
#include "requirements/requirement.hpp"
#include "text/layout.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

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

std::string what_it_tests(const conform::Case& one) {
  return fmt::format("{}{}", one.title,
                     one.needs == conform::Needs::kAgent ? "" : " (no agent needed)");
}

/// On a terminal that leaves no room beside the names, what a case tests stands below its own.
void list_as_text(const std::vector<conform::Case>& cases) {
  constexpr std::size_t kIndent = 4;
  std::size_t width = 0, room = 0;
  for (const auto& one : cases) {
    width = std::max(width, one.id.size());
    room = std::max(room, columns(what_it_tests(one)));
  }
  const auto terminal = terminal_columns(STDOUT_FILENO);
  for (const auto& one : cases) {
    if (terminal && *terminal < width + 2 + room) {
      std::cout << one.id << '\n'
                << filled(what_it_tests(one), *terminal, std::string(kIndent, ' '), kIndent);
    } else {
      std::cout << fmt::format("{:<{}}  {}\n", one.id, width, what_it_tests(one));
    }
  }
}

void run(const ConformOptions& options, bool list, Context& context) {
  configure_log(context.log_level);
  if (!list) {
    context.exit_status =
        static_cast<int>(run_conform(options, context) ? ExitStatus::kDone : ExitStatus::kFailed);
    return;
  }
  const std::vector<conform::Case> cases = select(options.selection);
  return context.output == Output::kJson ? list_as_json(cases) : list_as_text(cases);
}

}  // namespace

void add_conform_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("conform", "Test whether an iWARP peer obeys the RFCs");
  const auto options = std::make_shared<ConformOptions>();
  const auto list = std::make_shared<bool>(false);
  add_report_options(*command, context);
  command->add_flag("--self", options->self, "Test this program's own stack, in another process");
  add_device_option(*command, context);
  command
      ->add_option("--target", options->target,
                   "Where the target listens for iWARP; port 7471 if none is given")
      ->type_name("HOST:PORT");
  command
      ->add_option("--agent", options->agent,
                   "Where the target's agent listens; port 7470 if none is given")
      ->type_name("HOST:PORT");
  command
      ->add_option("--tester-address", options->tester_address,
                   "The address of this machine as the target sees it (default: as the agent does)")
      ->type_name("ADDR");
  command->add_flag("--relayed", options->relayed,
                    "A relay ends TCP between here and the target: skip what needs the target to "
                    "see our segment sizes");
  command
      ->add_option(
          "--private-data", options->private_data,
          "Private Data of the Requests, in hexadecimal, for a listener that asks for some")
      ->type_name("HEX");
  command
      ->add_option("--revive", options->revive,
                   "Shell command that starts a target anew whose agent is lost, and ends when it "
                   "can be reached")
      ->type_name("COMMAND");
  command->add_flag("--fail-fast", options->fail_fast, "Stop at the first case that fails");
  command->add_flag("--list", *list, "List the cases; with --json the requirements, too");
  command
      ->add_option(
          "--case", options->selection.ids,
          "Only this case, group of cases, or what tests this requirement; may be repeated")
      ->type_name("ID");
  command->add_option("--layer", options->selection.layers, "Only this layer; may be repeated")
      ->transform(OneOf({"mpa", "ddp", "rdmap"}));
  command
      ->add_option("--timeout", options->timeout_ms,
                   "How long to wait for the target, in milliseconds; a twentieth of it for what "
                   "must not come")
      ->transform(Within(100, 600000))
      ->type_name("MS")
      ->capture_default_str();
  command->add_flag("--markers", options->markers,
                    "Ask the target for Markers in every connection");
  command->add_option("--rev", options->revision, "MPA revision of the connections")
      ->transform(OneOf({"1", "2"}))
      ->type_name("N")
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
      "With --target alone the cases run that need nothing but a listener that accepts. An agent\n"
      "on the target, such as `iwarp agent` for this stack, makes buffers, receives and\n"
      "completions accessible for the rest.\n"
      "--device is the device of the stack that --self tests.\n"
      "Exit status: 0 if nothing failed, 1 otherwise, 2 wrong usage.\n\n"
      "Examples:\n"
      "  iwarp conform --self\n"
      "  iwarp conform --agent 192.0.2.7:7470 --report report\n"
      "  iwarp conform --target 192.0.2.7:7471 --layer mpa\n"
      "  iwarp conform --list --json");
  command->callback([options, list, &context] { run(*options, *list, context); });
}

}  // namespace iwarp::cli
