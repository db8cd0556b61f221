#include <unistd.h>

#include <iostream>
#include <memory>

#include "address.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "help/checks.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "options.hpp"
#include "perf/ends/client.hpp"
#include "perf/ends/server.hpp"
#include "perf/measured/report.hpp"
#include "standard_output.hpp"
#include "text/layout.hpp"
#include "text/near_word.hpp"

namespace iwarp::cli {
namespace {

constexpr std::uint16_t kPerfPort = 7472;

constexpr const char* kPerfFooter = R"(
Bandwidth (the default): the client keeps DEPTH requests posted; time runs until the server has
confirmed the last one. Sends are bounded by the receives that the server has posted again.

Latency (--latency): one message under way. `send`: a Send each way, half the round trip; `write`:
a Write each way, both ends watch their memory, half the round trip; `read`: the whole round trip.
Both ends poll without pause; with --events they sleep until something arrives. --markers asks for
them in both directions; without --no-crc there is a CRC in both. --max-fpdu is of what the end
that it is given to sends: of Reads that is the server.

Baseline (--baseline): plain TCP between the same two processes, waiting the same way, in slices
of about a second that alternate with ours; rates are medians over the slices. Each message is one
send() of SIZE octets, received into SIZE octets, 64 KiB at least; a Read is compared with the
server sending (bandwidth) or answering 16 octets (latency).

Examples:
  iwarp perf server &
  iwarp perf 127.0.0.1 --op write --size 1M --depth 16 --baseline)";

/// What the options of both forms are parsed into; shared by the callbacks.
struct PerfArguments {
  std::string listen = "127.0.0.1";
  std::string server;
  perf::Workload workload;
  double duration = 5;
  double timeout = 10;
  bool latency = false, baseline = false, events = false, stable = false;
  std::uint32_t max_fpdu = 0;
  StartUpFlags start_up;
};

/// Parses an address whose port, if it has none, is the one of perf.
HostPort parse_address(const std::string& text, PortZero zero) {
  const std::size_t host_end = text.starts_with('[') ? text.find(']') : 0;
  const bool has_port = host_end != std::string::npos && text.find(':', host_end) < text.size();
  HostPort address = parse_host_port(text, zero);
  if (!has_port) address.port = kPerfPort;
  return address;
}

std::chrono::milliseconds patience_of(const PerfArguments& arguments) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(arguments.timeout * 1000));
}

perf::ClientOptions client_options(const PerfArguments& arguments) {
  perf::ClientOptions options;
  options.server = parse_address(arguments.server, PortZero::kRefused);
  options.workload = arguments.workload;
  if (arguments.latency) {
    options.workload.figure = perf::Figure::kLatency;
    options.workload.depth = 1;
  }
  if (arguments.events) options.workload.waiting = perf::Waiting::kEvents;
  if (arguments.baseline) options.workload.baseline = perf::Baseline::kRawTcp;
  if (arguments.stable) options.buffers = verbs::SourceBuffers::kStable;
  options.max_fpdu = arguments.max_fpdu;
  options.duration = std::chrono::duration<double>(arguments.duration);
  options.connect = connect_options(arguments.start_up);
  options.patience = patience_of(arguments);
  if (options.workload.list != 0 && arguments.latency) {
    throw usage_error("with --latency there is one request at a time, and no --list");
  }
  if (options.workload.list != 0 && options.workload.depth % options.workload.list != 0) {
    throw usage_error("--depth is to be a multiple of --list");
  }
  if (!perf::is_valid(options.workload)) {
    throw usage_error("the latency of Writes is seen in memory, which raises no --events");
  }
  return options;
}

/// An unknown host that looks like the word server is told as that.
perf::Results measure(verbs::Device& device, const perf::ClientOptions& options) try {
  return perf::run_client(device, options);
} catch (const UnknownHost& unknown) {
  throw CommandError(unknown.what() + did_you_mean(options.server.host, {"server"}));
}

void run_client(const PerfArguments& arguments, const Context& context) {
  if (arguments.server.empty()) {
    throw usage_error("perf needs HOST:PORT of a perf server, or the word server");
  }
  const perf::ClientOptions options = client_options(arguments);
  configure_log(context.log_level);
  const InterruptGuard guard;
  verbs::Device device = open_device(context);
  const perf::Results results = measure(device, options);
  const std::size_t columns = terminal_columns(STDOUT_FILENO).value_or(std::string::npos);
  std::cout << (context.output == Output::kJson ? perf::to_json(results) + "\n"
                                                : perf::to_text(results, columns));
}

void run_server(const PerfArguments& arguments, const Context& context) {
  const HostPort address = parse_address(arguments.listen, PortZero::kAllowed);
  configure_log(context.log_level, StackWarnings::kShown);
  const InterruptGuard guard;
  verbs::Device device = open_device(context);
  perf::Server server(device, resolve(address).front(),
                      {arguments.max_fpdu, patience_of(arguments)});
  const std::string at = to_string(server.endpoint());
  std::cout << (context.output == Output::kJson ? fmt::format("{{\"listening\": \"{}\"}}\n", at)
                                                : fmt::format("iwarp perf: listening on {}\n", at));
  require_standard_output();
  server.run();
}

perf::Operation operation_named(const std::string& name) {
  if (name == "write") return perf::Operation::kWrite;
  return name == "read" ? perf::Operation::kRead : perf::Operation::kSend;
}

void add_workload_options(CLI::App& command, PerfArguments& arguments) {
  perf::Workload& workload = arguments.workload;
  command
      .add_option_function<std::string>(
          "--op",
          [&workload](const std::string& name) { workload.operation = operation_named(name); },
          "What moves the data: write (default), read or send")
      ->transform(OneOf({"write", "read", "send"}))
      ->type_name("OP");
  command
      .add_option("--size", workload.size, "Octets of a message (64K); K and M are powers of 1024")
      ->transform(Octets(1, perf::kMaxSize))
      ->type_name("N");
  command.add_option("--depth", workload.depth, "Messages under way (16)")
      ->transform(Within(1U, perf::kMaxDepth))
      ->type_name("N");
  command
      .add_option("--list", workload.list,
                  "Post lists of N requests, of which the last asks for a completion "
                  "(as many at once as there is room for, and each asks); DEPTH is a multiple of N")
      ->transform(Within(1U, perf::kMaxDepth))
      ->type_name("N");
  command
      .add_option("--duration", arguments.duration,
                  "Time to measure (5), and as long for the baseline")
      ->transform(Within(0.01, 3600.0))
      ->type_name("SECONDS");
}

void add_timeout_option(CLI::App& command, double& seconds, const char* description) {
  command.add_option("--timeout", seconds, description)
      ->transform(Within(0.1, 86400.0))
      ->type_name("SECONDS");
}

void add_client_options(CLI::App& command, PerfArguments& arguments) {
  command.add_option("HOST:PORT", arguments.server, "The perf server; the port may be left out");
  add_workload_options(command, arguments);
  command.add_flag("--latency", arguments.latency, "Measure latency instead of bandwidth");
  command.add_flag("--baseline", arguments.baseline, "Measure raw TCP beside it");
  command.add_flag("--events", arguments.events, "Both ends sleep instead of polling");
  command.add_flag(
      "--stable-buffers", arguments.stable,
      "Promise that what the client sends does not change meanwhile: it is not copied");
  add_timeout_option(
      command, arguments.timeout,
      "Give up when there is no connection, or the server shows no sign of life, for "
      "so long (10)");
  add_mpa_options(command, arguments.start_up);
  add_max_fpdu_option(command, arguments.max_fpdu);
  add_revision_option(command, arguments.start_up);
  add_capture_option(command);
}

}  // namespace

void add_perf_command(CLI::App& app, Context& context) {
  const auto arguments = std::make_shared<PerfArguments>();
  CLI::App* perf = app.add_subcommand("perf", "Measure bandwidth and latency, beside raw TCP");
  perf->footer(kPerfFooter);
  add_client_options(*perf, *arguments);
  add_device_option(*perf, context);
  add_report_options(*perf, context);

  CLI::App* server = perf->add_subcommand("server", "Serve `iwarp perf` clients until a signal");
  server
      ->add_option("--listen", arguments->listen,
                   "Where (127.0.0.1:7472); port 0 takes a free one and prints it")
      ->type_name("ADDR:PORT");
  add_device_option(*server, context);
  add_timeout_option(
      *server, arguments->timeout,
      "Drop a client whose MPA Request does not come, or that shows no sign of life, "
      "for so long (10)");
  add_max_fpdu_option(*server, arguments->max_fpdu);
  add_capture_option(*server);
  add_report_options(*server, context);

  server->callback([arguments, &context] { run_server(*arguments, context); });
  perf->callback([arguments, &context, perf] {
    if (perf->get_subcommands().empty()) run_client(*arguments, context);
  });
}

}  // namespace iwarp::cli
