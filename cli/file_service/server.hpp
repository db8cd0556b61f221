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

/// Offers a directory: a thread and a connection for each client, up to a limit. Beyond that a
/// client that makes no use of its slot makes room (makes_room()), or the one that comes is
/// refused.
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
    boost::asio::ip::address peer;
    std::unique_ptr<Session> session;
    bool given_up = false;  ///< Its slot is another's, but its thread is still there.
    std::atomic<bool> done{false};
    std::jthread thread;
  };

  void admit(verbs::ConnectionRequest request);
  [[nodiscard]] bool has_room_for(const boost::asio::ip::address& newcomer);
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
