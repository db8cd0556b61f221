#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "iwarp/mpa/initiator.hpp"
#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/connection.hpp"
#include "soft/startup.hpp"

namespace iwarp::verbs::soft {

/// The initiator's side of one start-up, from the TCP connection to its hand-over. Belongs to the
/// executor, apart from cancel(). Its owner keeps it until the handler was called, or release()
/// was: the operations under way refer to it and do not own it.
class ConnectSession : public std::enable_shared_from_this<ConnectSession> {
 public:
  /// `initiator` was made from `options`.
  ConnectSession(tcp_offload::Device& device, const Endpoint& to, ConnectOptions options,
                 mpa::Initiator initiator, StartupHandler handler);

  /// Begins, unless it was cancelled before.
  void start();
  /// Makes sure that the handler will not be called; any thread. True if it has done so: then
  /// release() is to follow. False if the handler is called, or cancel() was.
  bool cancel();
  /// Closes the connection and frees everything.
  void release();

 private:
  enum class Phase { kRunning, kCancelled, kReported };

  void connect();
  void on_connected(std::error_code error, std::unique_ptr<tcp_offload::Connection> connection);
  void send_request();
  void read_reply();
  void on_read(std::error_code error, std::size_t n);
  void on_lost(std::error_code error);
  void on_timeout();
  void judge();
  void succeed(const mpa::Accepted& accepted);
  void reject(const mpa::Rejected& rejected);
  void fail(const mpa::Failed& failed);
  void fall_back();
  void send_terminate(const mpa::TerminateOrder& order, Error error);
  void finish(StartupResult result);
  [[nodiscard]] std::string what_failed(const char* doing) const;

  tcp_offload::Device& device_;
  const Endpoint to_;
  const ConnectOptions options_;
  std::optional<mpa::Initiator> initiator_;
  StartupHandler handler_;
  std::atomic<Phase> phase_{Phase::kRunning};

  std::array<std::byte, mpa::kMaxStartupFrameSize> reply_;
  std::size_t reply_size_ = 0;  // octets of it that have come
  std::vector<std::byte> terminate_;
  std::error_code lost_;  // why the connection was lost, if it was
  bool fell_back_ = false;

  // Last: what goes on in the memory above ends first.
  std::unique_ptr<tcp_offload::ConnectAttempt> attempt_;
  std::unique_ptr<tcp_offload::Connection> connection_;
  std::unique_ptr<tcp_offload::Timer> timer_;
};

}  // namespace iwarp::verbs::soft
