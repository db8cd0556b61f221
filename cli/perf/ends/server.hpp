#pragma once

#include <functional>
#include <list>
#include <memory>

#include "iwarp/verbs/verbs.hpp"
#include "perf/messages.hpp"

namespace iwarp::cli::perf {

/// Serves perf clients, each on a thread of its own.
class Server {
 public:
  /// Clients at once; more are rejected.
  static constexpr std::size_t kMaxClients = 16;

  /// Listens at once; throws a CommandError. `device` outlives this. `max_fpdu` is of all clients,
  /// as in verbs::QpOptions.
  Server(verbs::Device& device, const verbs::Endpoint& at, std::uint32_t max_fpdu);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] verbs::Endpoint endpoint() const { return listener_.endpoint(); }
  /// Serves until a signal comes (InterruptGuard), and waits for the sessions to end.
  void run();

 private:
  class Worker;

  void admit(verbs::ConnectionRequest request);

  verbs::Device& device_;
  verbs::Listener listener_;
  std::uint32_t max_fpdu_;
  std::list<Worker> workers_;
};

}  // namespace iwarp::cli::perf
