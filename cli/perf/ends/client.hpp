#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "address.hpp"
#include "perf/ends/initiator.hpp"
#include "perf/measured/results.hpp"
#include "perf/raw/raw_flows.hpp"

namespace iwarp::cli::perf {

/// What the command line says to a client.
struct ClientOptions {
  HostPort server;
  Workload workload;
  std::chrono::duration<double> duration{5};  ///< Of each of ours and the baseline.
  verbs::ConnectOptions connect;
  verbs::SourceBuffers buffers = verbs::SourceBuffers::kMayChange;  ///< Of what the client sends.
  std::uint32_t max_fpdu = 0;                                       ///< Likewise.
  std::chrono::milliseconds patience = kPatience;  ///< With a server that shows no sign of life.
};

/// One client's connections to a perf server.
class Client {
 public:
  /// Connects. Throws an Unreachable, a Rejected or another CommandError.
  Client(verbs::Device& device, const ClientOptions& options, const verbs::Endpoint& server);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Agrees on the workload and measures in slices of about a second, those of ours and of the
  /// baseline in turn. Throws a MeasurementRefused, a LinkLost, a PeerSilent or another
  /// CommandError.
  Results measure();

 private:
  void agree();
  Slice measure_slice(Flow flow, std::chrono::nanoseconds duration);
  Slice run(Flow flow, std::chrono::nanoseconds duration);

  ClientOptions options_;
  Link link_;
  Initiator initiator_;
  verbs::ConnectionInfo connection_;
  std::optional<RawClient> raw_;
  bool done_ = false;
};

/// Measures against the first endpoint of the server's name that answers.
Results run_client(verbs::Device& device, const ClientOptions& options);

}  // namespace iwarp::cli::perf
