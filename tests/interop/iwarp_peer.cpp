#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "address.hpp"
#include "exchanges.hpp"
#include "options.hpp"
#include "rping_text.hpp"

/// A test endpoint that speaks the little protocols of rdma-core's examples with a real peer.
namespace {

using iwarp::cli::CommandError;
using iwarp::cli::ExitStatus;
using namespace iwarp::interop;

/// What the command line says, to every subcommand.
struct Arguments {
  std::string host = "127.0.0.1";
  std::uint16_t port = 7471;
  std::string listen = "127.0.0.1:7471";
  double timeout = 20;
  int settle = 0;
  int mpa_revision = 2;
  std::uint32_t max_fpdu = 0;
  bool crc = true, markers = false, peer_to_peer = true, json = false;
  PingPlan ping;
};

PeerOptions peer_options(const Arguments& arguments, Role role) {
  PeerOptions options;
  const auto address =
      role == Role::kInitiator
          ? iwarp::cli::HostPort{arguments.host, arguments.port}
          : iwarp::cli::parse_host_port(arguments.listen, iwarp::cli::PortZero::kAllowed);
  options.address = iwarp::cli::resolve(address).front();
  options.timeout = std::chrono::milliseconds(static_cast<int>(arguments.timeout * 1000));
  options.settle = std::chrono::milliseconds(arguments.settle);
  options.max_fpdu = arguments.max_fpdu;
  options.connect.require_crc = arguments.crc;
  options.connect.want_markers = arguments.markers;
  options.connect.mpa_revision = static_cast<std::uint8_t>(arguments.mpa_revision);
  options.connect.peer_to_peer = arguments.peer_to_peer && arguments.mpa_revision >= 2;
  return options;
}

void report(const Arguments& arguments, const std::string& exchange, const Outcome& outcome) {
  const auto& info = outcome.connection;
  const nlohmann::ordered_json json = {{"exchange", exchange},
                                       {"rounds", outcome.rounds},
                                       {"octets", outcome.octets},
                                       {"remote", iwarp::cli::to_string(info.remote)},
                                       {"mpa_revision", info.mpa_revision},
                                       {"crc", info.crc},
                                       {"markers_sent", info.markers_sent},
                                       {"markers_received", info.markers_received},
                                       {"ird", info.ird},
                                       {"ord", info.ord},
                                       {"fpdus_sent", outcome.counters.fpdus_sent},
                                       {"fpdus_received", outcome.counters.fpdus_received}};
  if (arguments.json) {
    std::puts(json.dump(2).c_str());
  } else {
    fmt::print("{}: {} rounds, {} octets verified, CRC {}, markers sent {} received {}\n", exchange,
               outcome.rounds, outcome.octets, info.crc, info.markers_sent, info.markers_received);
  }
}

void add_common_options(CLI::App& command, Arguments& arguments) {
  command.add_flag("--crc,!--no-crc", arguments.crc, "Require MPA's CRC (default)");
  command.add_flag("--markers", arguments.markers, "Ask the peer for MPA markers");
  iwarp::cli::add_max_fpdu_option(command, arguments.max_fpdu);
  command.add_option("--mpa-revision", arguments.mpa_revision, "1 or 2")
      ->check(CLI::IsMember({1, 2}));
  command.add_flag("!--no-peer-to-peer", arguments.peer_to_peer,
                   "Leave the first message to the initiator");
  command.add_option("--timeout", arguments.timeout, "Seconds that anything may take")
      ->check(CLI::Range(0.1, 3600.0));
  command.add_flag("--json", arguments.json, "Print what happened as a JSON object");
}

using Exchange = Outcome (*)(iwarp::verbs::Device&, const Arguments&);

void add_exchange(CLI::App& app, Arguments& arguments, const std::string& name, Role role,
                  const std::string& help, Exchange run) {
  CLI::App* command = app.add_subcommand(name, help);
  if (role == Role::kInitiator) {
    command->add_option("HOST", arguments.host, "The server's address")->required();
    command->add_option("--port", arguments.port, "The server's TCP port")->capture_default_str();
    command->add_option("--settle", arguments.settle, "Milliseconds before the first message")
        ->check(CLI::Range(0, 60000));
  } else {
    command->add_option("--listen", arguments.listen, "ADDR:PORT")->capture_default_str();
  }
  if (name == "rping-client") {
    command->add_option("--count", arguments.ping.count, "Pings")->capture_default_str();
    command->add_option("--size", arguments.ping.size, "Octets of a ping")
        ->check(CLI::Range(kSmallestPing, kLargestPing))
        ->capture_default_str();
  }
  add_common_options(*command, arguments);
  command->callback([&arguments, name, run] {
    auto device = iwarp::cli::require(iwarp::verbs::Device::open(), "cannot open the device");
    report(arguments, name, run(device, arguments));
  });
}

void add_exchanges(CLI::App& app, Arguments& arguments) {
  add_exchange(app, arguments, "rdma-client", Role::kInitiator, "As rdma_client",
               [](iwarp::verbs::Device& device, const Arguments& a) {
                 return run_rdma_pair(device, peer_options(a, Role::kInitiator), Role::kInitiator);
               });
  add_exchange(app, arguments, "rdma-server", Role::kResponder, "As rdma_server, one connection",
               [](iwarp::verbs::Device& device, const Arguments& a) {
                 return run_rdma_pair(device, peer_options(a, Role::kResponder), Role::kResponder);
               });
  add_exchange(app, arguments, "rping-client", Role::kInitiator, "As rping -c",
               [](iwarp::verbs::Device& device, const Arguments& a) {
                 return run_rping_client(device, peer_options(a, Role::kInitiator), a.ping);
               });
  add_exchange(app, arguments, "rping-server", Role::kResponder, "As rping -s, one connection",
               [](iwarp::verbs::Device& device, const Arguments& a) {
                 return run_rping_server(device, peer_options(a, Role::kResponder));
               });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speaks the protocols of rdma-core's examples over the verbs API", "iwarp-peer");
  app.require_subcommand(1);
  Arguments arguments;
  add_exchanges(app, arguments);
  try {
    app.parse(argc, argv);
    return static_cast<int>(ExitStatus::kDone);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? static_cast<int>(ExitStatus::kDone)
                                : static_cast<int>(ExitStatus::kUsage);
  } catch (const CommandError& error) {
    iwarp::cli::print_error(error.what());
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    iwarp::cli::print_error(error.what());
    return static_cast<int>(ExitStatus::kFailed);
  }
}
