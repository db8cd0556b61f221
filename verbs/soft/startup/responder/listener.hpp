#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>

#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/fair_share.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/startup/responder/handler_gate.hpp"
#include "soft/startup/responder/responder_session.hpp"
#include "soft/startup/startup.hpp"
#include "soft/startup/starved.hpp"

namespace iwarp::verbs::soft {

/// Accepts TCP connections and owns them until their Request is there. Where they are too many, one
/// of them is closed to make room: no peer waits for another one that says nothing. Belongs to the
/// executor from start() on.
class ListenerCore final : public RequestSink,
                           private Starved,
                           public std::enable_shared_from_this<ListenerCore> {
 public:
  ListenerCore(std::shared_ptr<tcp_offload::Device> device,
               std::unique_ptr<tcp_offload::Acceptor> acceptor,
               const provider::ListenOptions& options, provider::IncomingHandler handler,
               AsResponder as_responder);

  /// Begins, unless it has been taken back.
  void start();
  /// True if start() has not run and will have no effect: then this still is the caller's, on any
  /// thread, and is to be closed by it.
  [[nodiscard]] bool take_back() { return !taken_.exchange(true); }
  /// No call of the program's handlers begins from now on; any thread.
  void stop_calling() { gate_.close(); }
  /// After that, until none is under way; not on the executor.
  void await_last_call() const { gate_.await_last(); }
  /// Stops listening and closes the connections without a Request.
  void close();
  /// Whether the calling thread is the executor's, as far as it has been seen; any thread.
  [[nodiscard]] bool is_executor() const { return executor_ == std::this_thread::get_id(); }

  void on_request(ResponderSession& session) override;
  void on_no_request(ResponderSession& session) override;

 private:
  enum class Accepting { kIdle, kPending };

  void accept_next();
  void try_again() override;
  void wait_for_another();
  void on_accept(std::error_code error, std::unique_ptr<tcp_offload::Connection> connection);
  void begin(std::unique_ptr<tcp_offload::Connection> connection);
  [[nodiscard]] bool admits(const Endpoint& peer);
  void rest_after(std::error_code error);
  void make_room_for(const Address& peer);
  bool gives_up(std::optional<ResponderSession*> session);
  std::shared_ptr<ResponderSession> forget(ResponderSession& session);

  std::shared_ptr<tcp_offload::Device> device_;  // null once closed
  const provider::ListenOptions options_;
  const provider::IncomingHandler handler_;
  const AsResponder as_responder_;
  HandlerGate gate_;
  std::atomic<bool> taken_{false};  // by the executor, or back
  std::atomic<std::thread::id> executor_{};
  Accepting accepting_ = Accepting::kIdle;
  bool rests_ = false;  // since the system has refused to accept
  std::unique_ptr<tcp_offload::Acceptor> acceptor_;
  std::unique_ptr<tcp_offload::Timer> pause_;
  std::unordered_map<ResponderSession*, std::shared_ptr<ResponderSession>> half_open_;
  FairShare<ResponderSession*> shares_;  // of the same ones
};

}  // namespace iwarp::verbs::soft
