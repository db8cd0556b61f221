#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "address.hpp"
#include "file_service/wire/limits.hpp"
#include "file_service/wire/link.hpp"
#include "file_service/wire/protocol.hpp"
#include "file_service/wire/silence.hpp"

namespace iwarp::cli::file_service {

struct ClientOptions {
  verbs::ConnectOptions start_up;                     ///< Private data is the service's own.
  std::chrono::milliseconds timeout = kStallTimeout;  ///< In which nothing moves.
  std::uint32_t max_fpdu = 0;                         ///< As in verbs::QpOptions.
};

/// An answer, taken out of its message.
struct Answer {
  std::uint32_t length = 0;
  std::uint64_t position = 0;
  std::vector<std::byte> payload;
};

/// A connection to `iwarp serve`. Every failure, an answer that is not kOk and an interrupt
/// included, is a CommandError that names the server. One thread uses it.
class Client {
 public:
  /// Connects to the first of the server's addresses that answers.
  Client(verbs::Device& device, const HostPort& server, const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends a request, whose id it fills in. Precondition: fewer than window() are under way.
  void send(Request request);
  /// The answer to the oldest request. `subject` is what a failure is about.
  Answer receive(const std::string& subject);
  Answer ask(const Request& request, const std::string& subject) {
    send(request);
    return receive(subject);
  }

  [[nodiscard]] verbs::ProtectionDomain& domain() { return link_->domain(); }
  [[nodiscard]] const verbs::ConnectionInfo& info() const { return info_; }
  [[nodiscard]] const std::string& server() const { return server_; }
  /// What the regions that the server gets have besides: the right to invalidate them, or nothing.
  [[nodiscard]] verbs::Access invalidated() const { return invalidated_; }
  /// Chunks that may be under way at once, and their size.
  [[nodiscard]] std::size_t window() const { return window_; }
  [[nodiscard]] std::uint32_t chunk() const { return chunk_; }

 private:
  void connect(verbs::Device& device, const verbs::Endpoint& to);
  void take_welcome();
  Link::Event next_message();
  /// Takes one event if one comes soon; fails when nothing has moved for too long.
  void wait_a_little();
  [[noreturn]] void fail(const std::string& reason) const;

  std::string server_;
  ClientOptions options_;
  std::unique_ptr<Link> link_;
  verbs::ConnectionInfo info_;
  verbs::Access invalidated_ = verbs::Access::kNone;
  std::size_t window_ = 0;
  std::uint32_t chunk_ = 0;
  Silence silence_;
  std::deque<Link::Event> arrived_;  ///< Messages that receive() has not taken.
  std::uint32_t sent_ = 0;
  std::uint32_t answered_ = 0;
};

}  // namespace iwarp::cli::file_service
