#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "address.hpp"
#include "agent/agent_server.hpp"
#include "agent/protocol.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "help/checks.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "log.hpp"
#include "options.hpp"
#include "standard_output.hpp"

namespace iwarp::cli {
namespace {

struct AgentFlags {
  std::string listen = "127.0.0.1:7470";
  std::uint16_t iwarp_port = 0;
  bool once = false;
};

void announce(const Context& context, const std::string& address) {
  if (context.output == Output::kJson) {
    print_json({{"operation", "agent"}, {"address", address}});
  } else {
    std::cout << "agent listens on " << address << '\n';
  }
  require_standard_output();
}

void run_agent(const AgentFlags& flags, const Context& context) {
  // Connections that a tester breaks on purpose are no news.
  configure_log(context.log_level, StackWarnings::kHidden);
  const HostPort address = parse_host_port(flags.listen, PortZero::kAllowed, agent_protocol::kPort);
  std::signal(SIGPIPE, SIG_IGN);
  const InterruptGuard guard;
  agent::Server server(open_device(context), {.listen = resolve(address).front(),
                                              .iwarp_port = flags.iwarp_port,
                                              .once = flags.once,
                                              .stopped = InterruptGuard::interrupted});
  announce(context, to_string(server.endpoint()));
  server.run();
}

}  // namespace

void add_agent_command(CLI::App& app, Context& context) {
  auto flags = std::make_shared<AgentFlags>();
  CLI::App* command =
      app.add_subcommand("agent", "Be the target of a conformance test, with this stack");
  command
      ->add_option("--listen", flags->listen,
                   "Where the control connection arrives; port 0 takes a free one and says which. "
                   "An IPv6 address stands in []")
      ->capture_default_str()
      ->type_name("ADDR:PORT");
  command
      ->add_option("--iwarp-port", flags->iwarp_port,
                   "The port on which the tester's iWARP connections arrive; 0: a free one")
      ->capture_default_str()
      ->transform(Within(0, 65535))
      ->type_name("PORT");
  command->add_flag("--once", flags->once, "End when the first tester has gone");
  add_device_option(*command, context);
  add_capture_option(*command);
  add_report_options(*command, context);
  command->footer(
      "Prints one line with the address when it is ready, and serves one tester after the other\n"
      "until SIGINT or SIGTERM, which end it with status 0. A peer that can connect decides what "
      "the\n"
      "agent does with its memory and to which hosts it connects: listen on networks that you "
      "trust.\n"
      "iWARP connections arrive at the address at which the tester reaches the agent.\n\n"
      "Examples:\n"
      "  iwarp agent\n"
      "  iwarp agent --listen 10.0.0.2:7470 --iwarp-port 7471\n"
      "  iwarp agent --listen 127.0.0.1:0 --once");
  command->callback([flags, &context] { run_agent(*flags, context); });
}

}  // namespace iwarp::cli
