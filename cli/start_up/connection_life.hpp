#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "context.hpp"
#include "iwarp/verbs/verbs.hpp"

namespace iwarp::cli {

/// There is no connection: the peer could not be reached, or said nothing that makes one. what()
/// says what was tried, for how long and why it failed. Another address of the peer may do better.
class Unreachable : public CommandError {
 public:
  using CommandError::CommandError;
};

/// The peer said no.
class Rejected : public CommandError {
 public:
  explicit Rejected(std::vector<std::byte> private_data)
      : CommandError("the peer refused the connection"), private_data_(std::move(private_data)) {}
  [[nodiscard]] ConstBytes private_data() const { return private_data_; }

 private:
  std::vector<std::byte> private_data_;
};

/// What becomes of one connection, as the handler of its queue pair hears it (QpOptions::on_event),
/// kept for the thread that waits for it. Thread-safe.
class ConnectionLife {
 public:
  /// The handler's part.
  void report(const verbs::ConnectionEvent& event);

  /// Starts the queue pair's connection and waits for the outcome, which comes within
  /// ConnectOptions::timeout. `check_interrupt` is called several times a second and may throw;
  /// then the queue pair is to be destroyed. Throws an Unreachable or a Rejected.
  verbs::ConnectionInfo connect(verbs::QueuePair& qp, const verbs::Endpoint& to,
                                const verbs::ConnectOptions& options,
                                const std::function<void()>& check_interrupt);

  /// The end of the connection; none if the time is over before.
  std::optional<verbs::ConnectionEvent> wait_for_end(std::chrono::milliseconds timeout) {
    return wait_for(end_, timeout);
  }

  /// Returns after `timeout`, or when the connection is over or wake() is called; the call counts
  /// that came before this.
  void sleep(std::chrono::milliseconds timeout);
  void wake() noexcept;

 private:
  using Place = std::optional<verbs::ConnectionEvent>;
  Place wait_for(const Place& place, std::chrono::milliseconds timeout);

  std::mutex mutex_;
  std::condition_variable changed_;
  Place outcome_;
  Place end_;
  bool woken_ = false;
};

/// Why a queue pair's connection is over, in words that say which side ended it; `otherwise` if
/// that is not known.
std::string why_over(const verbs::QueuePair& qp, const std::string& otherwise);

}  // namespace iwarp::cli
