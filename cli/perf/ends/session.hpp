#pragma once

#include <optional>
#include <string>

#include "iwarp/verbs/verbs.hpp"
#include "perf/ends/responder.hpp"
#include "perf/raw/raw_flows.hpp"

namespace iwarp::cli::perf {

/// What goes for all clients of a server.
struct SessionOptions {
  std::uint32_t max_fpdu = 0;                      ///< As in verbs::QpOptions.
  std::chrono::milliseconds patience = kPatience;  ///< With a client that shows no sign of life.
};

/// The server's side of one client.
class Session {
 public:
  /// `greeting` is what the private data of the client's request says. Throws a CommandError if the
  /// device has no room for the client.
  Session(verbs::Device& device, const verbs::Endpoint& client, const Greeting& greeting,
          const SessionOptions& options);

  /// Accepts and serves the client until it leaves. Throws a CommandError when it breaks the
  /// protocol, falls silent or the program is interrupted.
  void run(verbs::ConnectionRequest request);
  /// The client's address and what it measured, for people.
  [[nodiscard]] std::string describe() const;

 private:
  /// Agrees on the workload, or tells the client why not and throws.
  void agree();
  void prepare();
  void serve_slices();
  Report serve(const Start& start);

  verbs::Endpoint client_;
  Greeting greeting_;
  std::chrono::milliseconds patience_;
  std::uint16_t ird_;
  std::uint32_t receives_;
  Link link_;
  verbs::ConnectionInfo connection_;
  Workload workload_;
  std::optional<Responder> responder_;
  std::optional<RawServer> raw_;
};

}  // namespace iwarp::cli::perf
