#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "iwarp/mpa/initiator.hpp"
#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/connection.hpp"
#include "soft/startup/initiator/request_exchange.hpp"
#include "soft/startup/patient_timer.hpp"
#include "soft/startup/session.hpp"
#include "soft/startup/startup.hpp"
#include "soft/startup/streaming_connection.hpp"

namespace iwarp::verbs::soft {

/// The initiator's side of one start-up, from the TCP connection, made here or adopted, to its
/// hand-over.
class ConnectSession final : public Session<StartupResult> {
 public:
  /// `initiator` was made from `options`. Without a connection in `adopted` one is made; with one
  /// `to` is its peer, and `options` forbid to fall back.
  ConnectSession(tcp_offload::Device& device, const Endpoint& to, ConnectOptions options,
                 mpa::Initiator initiator, StartupHandler handler,
                 StreamingConnection adopted = {});

 private:
  void begin() override;
  void drop() override;
  /// A step that throws, for lack of memory, is the end of the attempt.
  template <typename Step>
  void attempt(Step step);
  void begin_attempt();
  void connect();
  [[nodiscard]] bool may_try_again();
  void on_connected(std::error_code error, std::unique_ptr<tcp_offload::Connection> connection);
  void exchange();
  void on_timeout();
  [[nodiscard]] std::string heard_so_far() const;
  void judge();
  void succeed(const mpa::Accepted& accepted);
  void reject(const mpa::Rejected& rejected);
  void fail(const mpa::Failed& failed);
  void fall_back();
  void send_terminate(const mpa::TerminateOrder& order, Error error);
  [[nodiscard]] std::string what_failed(const char* doing) const;

  tcp_offload::Device& device_;
  const Endpoint to_;
  const ConnectOptions options_;
  std::vector<std::byte> already_read_;
  std::optional<RequestExchange> exchange_;

  std::vector<std::byte> terminate_;
  bool fell_back_ = false;
  std::optional<Deadline> refusals_;  // how long they lead to another attempt
  std::chrono::milliseconds refused_pause_;

  // Last: what goes on in the memory above ends first.
  std::unique_ptr<tcp_offload::ConnectAttempt> attempt_;
  std::unique_ptr<tcp_offload::Connection> connection_;
  std::optional<PatientTimer> timer_;
  std::unique_ptr<tcp_offload::Timer> pause_;
};

}  // namespace iwarp::verbs::soft
