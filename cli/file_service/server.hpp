#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "file_service/session.hpp"

namespace iwarp::cli::file_service {

struct ServerOptions {
  verbs::ConnectOptions start_up;  ///< CRC and markers; private data is the service's own.
  std::size_t max_clients = 64;
  SessionTimeouts timeouts;
};

/// Offers a directory: a thread and a connection for each client, up to a limit.
class Server {
 public:
  /// Listens. Throws a CommandError.
  Server(verbs::Device device, Store store, const verbs::Endpoint& at, ServerOptions options);
  /// Turns away the clients that still ask to be let in, and waits for the sessions
  /// (Session::stop).
  ~Server();

  [[nodiscard]] verbs::Endpoint endpoint() const { return listener_->endpoint(); }
  /// Serves until a signal interrupts (InterruptGuard).
  void run();

 private:
  struct Client {
    std::unique_ptr<Session> session;
    std::atomic<bool> done{false};
    std::jthread thread;
  };

  void admit(verbs::ConnectionRequest request);
  void start(verbs::ConnectionRequest request);
  void forget_finished();

  verbs::Device device_;
  Store store_;
  ServerOptions options_;
  BufferBudget budget_{kTotalBuffers};
  std::optional<verbs::Listener> listener_;
  std::list<Client> clients_;
};

}  // namespace iwarp::cli::file_service
