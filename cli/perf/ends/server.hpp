#pragma once

#include <functional>
#include <list>
#include <memory>

#include "iwarp/verbs/verbs.hpp"
#include "perf/ends/session.hpp"
#include "perf/messages.hpp"

namespace iwarp::cli::perf {

/// Serves perf clients, each on a thread of its own.
class Server {
 public:
  /// Clients at once; more are rejected.
  static constexpr std::size_t kMaxClients = 16;

  /// Listens at once; throws a CommandError. `device` outlives this.
  Server(verbs::Device& device, const verbs::Endpoint& at, const SessionOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] verbs::Endpoint endpoint() const { return listener_.endpoint(); }
  /// Serves until a signal comes (InterruptGuard), and waits for the sessions to end.
  void run();

 private:
  class Worker;

  void admit_or_drop(verbs::ConnectionRequest request);
  void admit(verbs::ConnectionRequest request);
  /// Answers no, with the reason, which a line of the log says too.
  void reject(verbs::ConnectionRequest& request, const Refused& refused) const;
  /// The clients whose requests wait are told that the server ends.
  void turn_away();

  verbs::Device& device_;
  verbs::Listener listener_;
  SessionOptions options_;
  std::list<Worker> workers_;
};

}  // namespace iwarp::cli::perf
