#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "agent/control.hpp"
#include "iwarp/verbs/verbs.hpp"

namespace iwarp::agent {

struct ServerOptions {
  verbs::Endpoint listen{};      ///< Of the control connection; port 0: any.
  std::uint16_t iwarp_port = 0;  ///< Of all listeners for iWARP; 0: any.
  bool once = false;             ///< End when the first tester has gone.
  std::function<bool()> stopped = [] { return false; };  ///< Asked a few times a second.
};

/// Serves one tester after the other, on the calling thread (PROTOCOL.md). Listens for iWARP at the
/// address at which the tester has reached the agent.
class Server {
 public:
  /// Throws std::system_error if it cannot listen.
  Server(verbs::Device device, ServerOptions options);
  [[nodiscard]] verbs::Endpoint endpoint() const { return listener_.endpoint(); }
  void run();

 private:
  /// Whether a tester was served. A connection without a single line is none.
  bool serve(ControlConnection connection);
  /// Tells a second tester, once it has waited for a while, that the agent is busy.
  void turn_others_away();

  verbs::Device device_;
  ServerOptions options_;
  ControlListener listener_;
  std::optional<std::chrono::steady_clock::time_point> other_since_;
};

}  // namespace iwarp::agent
