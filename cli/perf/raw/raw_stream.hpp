#pragma once

#include <cstdint>
#include <utility>

#include "iwarp/base/bytes.hpp"
#include "iwarp/process/descriptor.hpp"
#include "iwarp/verbs/connection.hpp"
#include "perf/patience.hpp"
#include "perf/workload.hpp"

/// Plain TCP for the baseline. Everything throws a CommandError on failure and on silence.
namespace iwarp::cli::perf {

/// A connected TCP socket without Nagle's delay. Polling: non-blocking calls repeated without
/// pause. Events: poll(2) before each receive, and before a send when the last was short.
class RawStream {
 public:
  RawStream(process::Descriptor socket, Waiting waiting, std::chrono::nanoseconds patience);

  /// Receives at least one octet and at most `into.size()`.
  std::size_t receive_some(MutableBytes into);
  void receive_all(MutableBytes into);
  void send_all(ConstBytes bytes);
  [[nodiscard]] Patience& patience() { return patience_; }
  /// The same connection, waiting another way, and so long.
  RawStream with(Waiting waiting, std::chrono::nanoseconds patience) && {
    return {std::move(socket_), waiting, patience};
  }

 private:
  void wait_for(short events);
  void idle(short events);

  process::Descriptor socket_;
  Waiting waiting_;
  Patience patience_;
};

/// Connects and says `token`. The peer may show no sign of life for `patience`, then and later.
RawStream connect_raw(const verbs::Endpoint& to, std::uint64_t token, Waiting waiting,
                      std::chrono::nanoseconds patience);

/// Waits at an ephemeral port for the one connection that says the right token.
class RawListener {
 public:
  explicit RawListener(const verbs::Address& at);
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Connections that say something else, or nothing for a second, are closed.
  RawStream accept(std::uint64_t token, Waiting waiting, std::chrono::nanoseconds patience);

 private:
  process::Descriptor socket_;
  std::uint16_t port_ = 0;
};

}  // namespace iwarp::cli::perf
