// A server of many clients that asks for work by epoll: over verbs, with a completion queue and a
// channel for each client, and over TCP with a socket for each.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "load.hpp"
#include "server.hpp"

namespace iwarp::bench::channel {
namespace {

const std::map<std::string, Transport> kTransports{{"verbs", Transport::kVerbs},
                                                   {"tcp", Transport::kTcp}};

struct Arguments {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  Task task;
  double seconds = 1;
};

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

void run_client(const Arguments& arguments) {
  const auto duration = std::chrono::duration<double>(arguments.seconds);
  const Measured measured = measure(arguments.address, arguments.port, arguments.task,
                                    std::chrono::ceil<std::chrono::nanoseconds>(duration));
  const nlohmann::json told{
      {"exchanges", measured.exchanges},
      {"seconds", seconds(measured.time)},
      {"exchanges_per_second", static_cast<double>(measured.exchanges) / seconds(measured.time)},
      {"cpu_seconds",
       {{"client", seconds(measured.client_cpu)}, {"server", seconds(measured.server_cpu)}}}};
  std::cout << told.dump() << '\n';
}

int run(int argc, char** argv) {
  CLI::App app("A server of many clients that sleeps in epoll: completion channels beside TCP");
  Arguments arguments;
  Task& task = arguments.task;
  app.require_subcommand(1);
  CLI::App* server = app.add_subcommand(
      "server", "Print the port and serve clients of either kind until a signal");
  server->add_option("--address", arguments.address, "IPv4 address to listen at (127.0.0.1)");
  server->add_option("--port", arguments.port, "Port (one that is free)");
  CLI::App* client = app.add_subcommand("client", "Measure once; prints JSON");
  client->add_option("address", arguments.address, "IPv4 address of the server")->required();
  client->add_option("port", arguments.port, "Its port")->required();
  client->add_option("--transport", task.transport, "verbs (default) or tcp")
      ->transform(CLI::CheckedTransformer(kTransports));
  client->add_option("--clients", task.clients, "Connections (50)")->check(CLI::Range(1, 10000));
  client->add_option("--outstanding", task.outstanding, "Requests that each keeps unanswered (1)")
      ->check(CLI::Range(1, 256));
  client->add_option("--size", task.size, "Octets of a request and of an answer (100)")
      ->check(CLI::Range(1, 512));
  client->add_option("--seconds", arguments.seconds, "How long (1); 0: only connect")
      ->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  if (*server) run_server(arguments.address, arguments.port);
  run_client(arguments);
  return 0;
}

}  // namespace
}  // namespace iwarp::bench::channel

int main(int argc, char** argv) try {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that has gone is an error of the call
  return iwarp::bench::channel::run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "channel_bench: " << error.what() << '\n';
  return 1;
}
