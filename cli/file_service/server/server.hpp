#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "file_service/server/bad_ends.hpp"
#include "file_service/server/session.hpp"
#include "file_service/server/slots.hpp"

namespace iwarp::cli::file_service {

struct ServerOptions {
  verbs::ConnectOptions start_up;  ///< CRC and markers; private data is the service's own.
  std::size_t max_clients = kMaxClients;
  std::size_t buffers = kTotalBuffers;  ///< For the chunks of all clients.
  /// After so long in line for one a stranger gets it although there are too few.
  std::chrono::milliseconds long_in_line = kLongInLine;
  SessionTimeouts timeouts;
  /// For a peer's MPA Request.
  std::chrono::milliseconds request_timeout = verbs::ListenOptions{}.request_timeout;
  std::uint32_t max_fpdu = 0;  ///< As in verbs::QpOptions.
};

/// Offers a directory: a thread and a connection for each client, up to a limit. Beyond that a
/// client that makes no use of its slot makes room (Slots), or the one that comes is refused.
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
    verbs::Endpoint peer;
    std::optional<verbs::ConnectionRequest> request;  ///< Until its thread answers it.
    std::unique_ptr<Session> session;
    std::jthread thread;
  };
  /// The clients whose threads end. Thread-safe.
  class Finished {
   public:
    /// Room for them is there from the beginning: a thread that ends may find no memory.
    explicit Finished(std::size_t most) { numbers_.reserve(most); }
    void add(Slots::Number number) {
      const std::scoped_lock lock(mutex_);
      numbers_.push_back(number);
    }
    /// Those since the last call. Throws std::bad_alloc, and they are kept.
    [[nodiscard]] std::vector<Slots::Number> take() {
      const std::scoped_lock lock(mutex_);
      auto taken = numbers_;
      numbers_.clear();
      return taken;
    }

   private:
    std::mutex mutex_;
    std::vector<Slots::Number> numbers_;
  };

  /// Waits for a request for a while (kInterruptSlice), and does what is due. May throw.
  void take_turn();
  /// The clients whose requests wait are told that the server ends.
  void turn_away() noexcept;
  [[nodiscard]] verbs::Listener listen(const verbs::Endpoint& at);
  void consider(verbs::ConnectionRequest request);
  /// A slot for the client, or none.
  [[nodiscard]] std::optional<Slots::Number> admit(const verbs::Address& peer);
  /// Answers no, with the reason, which a line of the log says too.
  void reject(verbs::ConnectionRequest& request, Status status, const std::string& reason) const;
  /// What it throws leaves the request unanswered.
  void start(verbs::ConnectionRequest& request, Slots::Number number);
  [[nodiscard]] Standing standing_of(const verbs::Endpoint& peer);
  /// Its slot is another's from now on, but its thread is there for a while yet. False if there is
  /// none.
  bool give_up(std::optional<Slots::Number> number);
  /// Transfers that rest make room where there are too few buffers.
  void find_buffers();
  void forget_finished();
  void note_end(const Client& client);
  /// The allocator keeps what it is given back, which is much after a crowd.
  void give_memory_back();

  verbs::Device device_;
  Store store_;
  ServerOptions options_;
  BufferBudget budget_;
  Slots slots_;
  BadEnds bad_ends_;
  std::optional<verbs::Listener> listener_;
  Finished finished_;
  std::map<Slots::Number, Client> clients_;  ///< Also those that have lost their slots.
  std::size_t most_clients_ = 0;             ///< Since memory was given back.
};

}  // namespace iwarp::cli::file_service
