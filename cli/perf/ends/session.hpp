#pragma once

#include <optional>
#include <string>

#include "iwarp/verbs/verbs.hpp"
#include "perf/ends/responder.hpp"
#include "perf/raw/raw_flows.hpp"

namespace iwarp::cli::perf {

/// The server's side of one client.
class Session {
 public:
  /// `greeting` is what the request's private data says; `max_fpdu` as in verbs::QpOptions.
  Session(verbs::Device& device, verbs::ConnectionRequest request, const Greeting& greeting,
          std::uint32_t max_fpdu);

  /// Accepts and serves the client until it leaves. Throws a CommandError when it breaks the
  /// protocol, falls silent or the program is interrupted.
  void run();
  /// The client's address and what it measured, for people.
  [[nodiscard]] std::string describe() const;

 private:
  void prepare();
  void serve_slices();
  Report serve(const Start& start);

  verbs::ConnectionRequest request_;
  Greeting greeting_;
  std::uint16_t ird_;
  Link link_;
  verbs::ConnectionInfo connection_;
  Workload workload_;
  std::optional<Responder> responder_;
  std::optional<RawServer> raw_;
};

}  // namespace iwarp::cli::perf
