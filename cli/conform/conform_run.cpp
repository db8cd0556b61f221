#include "conform/conform_run.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "address.hpp"
#include "conform/child_agent.hpp"
#include "harness/departures.hpp"
#include "interrupt.hpp"
#include "report/terminal.hpp"
#include "report/writers.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

namespace fs = std::filesystem;
using conform::Verdict;

conform::Address address_of(const std::string& text, const char* option,
                            std::uint16_t default_port) {
  try {
    const HostPort address = parse_host_port(text);
    return {address.host, conform::parse_address(text) ? address.port : default_port};
  } catch (const CommandError& error) {
    throw usage_error(fmt::format("{}: {}", option, error.what()));
  }
}

void check_options(const ConformOptions& options, const Context& context) {
  const bool remote = !options.target.empty() || !options.agent.empty();
  if (options.self && remote) {
    throw usage_error(
        "--self tests this program's own stack: it takes neither --target nor --agent");
  }
  if (!options.self && !remote) {
    throw usage_error("conform needs a target: --self, --target HOST:PORT or --agent HOST:PORT");
  }
  if (!options.revive.empty() && options.agent.empty()) throw usage_error("--revive needs --agent");
  if (!options.self && !options.agent_program.empty()) {
    throw usage_error("--agent-program needs --self");
  }
  if (!options.self && !context.device.empty()) throw usage_error("--device needs --self");
}

// Whether the command says that the target is back.
bool revived(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_good(const conform::Result& result) {
  return result.verdict != Verdict::kFail && result.verdict != Verdict::kError;
}

std::vector<std::pair<std::string, std::string>> named_options(const ConformOptions& options) {
  std::vector<std::pair<std::string, std::string>> named{
      {"revision", std::to_string(options.revision)},
      {"markers", options.markers ? "yes" : "no"},
      {"timeout", std::to_string(options.timeout_ms) + " ms"}};
  if (options.relayed) named.emplace_back("relayed", "yes");
  if (!options.departures.empty()) named.emplace_back("departures", options.departures);
  return named;
}

class Run {
 public:
  Run(const ConformOptions& options, const Context& context)
      : options_(options), context_(context), cases_(select(options.selection)) {
    if (!options.departures.empty()) departures_ = conform::Departures::read(options.departures);
    plan_.limits = {.timeout = std::chrono::milliseconds(options.timeout_ms)};
    plan_.revision = static_cast<std::uint8_t>(options.revision);
    plan_.markers = options.markers;
    plan_.relayed = options.relayed;
    plan_.tester_address = options.tester_address;
    if (!conform::from_hex(options.private_data, plan_.private_data)) {
      throw usage_error("--private-data: not pairs of hexadecimal digits: " + options.private_data);
    }
    options.self ? plan_child() : plan_remote();
  }

  bool run() {
    if (!options_.report.empty()) conform::make_directory(options_.report);
    conform::Runner runner(plan_);
    begin(runner);
    conform::TerminalSummary summary(std::cout, conform::TerminalStyle::of(STDOUT_FILENO));
    const bool shown = context_.output == Output::kHuman;
    if (shown) summary.begin(report_.target, cases_.size());
    for (const conform::Case& one : cases_) {
      if (InterruptGuard::interrupted()) {
        report_.remarks.emplace_back("The run was interrupted.");
        break;
      }
      if (shown) summary.running(one);
      report_.results.push_back(judge(runner, one));
      if (shown) summary.result(report_.results.back());
      if (options_.fail_fast && !is_good(report_.results.back())) break;
      if (is_out_of_reach() && report_.results.size() < cases_.size()) {
        report_.remarks.emplace_back(
            "The target was out of reach from the start: no further case ran.");
        break;
      }
    }
    if (shown) summary.end();
    return conclude();
  }

 private:
  void plan_child() {
    child_.emplace(options_.agent_program.empty() ? fs::read_symlink("/proc/self/exe")
                                                  : fs::path(options_.agent_program),
                   context_.device);
    plan_.agent = child_->start();
    plan_.revive = [this] { return child_->start(); };
    report_.target = "this program's own stack";
  }

  void plan_remote() {
    if (!options_.target.empty()) {
      plan_.target = address_of(options_.target, "--target", kDefaultPort);
      report_.target = "the listener at " + to_string(*plan_.target);
    }
    if (!options_.agent.empty()) {
      plan_.agent = address_of(options_.agent, "--agent", agent_protocol::kPort);
      report_.target = "the agent at " + to_string(*plan_.agent);
    }
    if (!options_.revive.empty()) {
      plan_.revive = [this, agent = plan_.agent] {
        return revived(options_.revive) ? agent : std::nullopt;
      };
    }
  }

  void begin(const conform::Runner& runner) {
    if (runner.agent() != nullptr) report_.target += " (" + printable(runner.agent()->name()) + ")";
    report_.version = IWARP_VERSION;
    report_.started = std::chrono::system_clock::now();
    report_.options = named_options(options_);
    report_.requirements = conform::requirements();
  }

  conform::Result judge(conform::Runner& runner, const conform::Case& one) {
    conform::Result result = runner.run(one);
    if (const std::string fate = child_ ? child_->fate() : ""; !fate.empty()) {
      result.verdict = Verdict::kFail;
      result.text += (result.text.empty() ? "" : "; ") + std::string("the target ") + fate;
    }
    departures_.apply(result);
    return result;
  }

  // Whether the case that ran last is the first one that needed the target, and did not get at it.
  bool is_out_of_reach() const {
    const auto needed = std::find_if(report_.results.begin(), report_.results.end(),
                                     [](const auto& one) { return one.verdict != Verdict::kSkip; });
    return needed != report_.results.end() && std::next(needed) == report_.results.end() &&
           needed->out_of_reach;
  }

  bool conclude() {
    for (const std::string& one : departures_.outdated(report_.results)) {
      report_.remarks.push_back("The target no longer departs in " + one + ".");
      print_error(report_.remarks.back());
    }
    if (context_.output == Output::kJson) std::cout << conform::json_of(report_) << '\n';
    if (!options_.report.empty()) write_report();
    InterruptGuard::check();
    return std::all_of(report_.results.begin(), report_.results.end(), is_good);
  }

  void write_report() const {
    conform::write_report(report_, options_.report);
    if (context_.output != Output::kHuman) return;
    std::cout << "report: " << printable((fs::path(options_.report) / conform::kPageName).string())
              << '\n';
  }

  const ConformOptions& options_;
  const Context& context_;
  std::vector<conform::Case> cases_;
  conform::Plan plan_;
  conform::Departures departures_;
  std::optional<ChildAgent> child_;
  conform::Report report_;
};

}  // namespace

bool run_conform(const ConformOptions& options, const Context& context) {
  check_options(options, context);
  const InterruptGuard guard;
  try {
    return Run(options, context).run();
  } catch (const conform::Unreachable& error) {
    throw CommandError(error.what());
  }
}

}  // namespace iwarp::cli
