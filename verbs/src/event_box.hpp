#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/verbs.hpp"
#include "patient_wait.hpp"

namespace iwarp::verbs {

/// Keeps what happened to a queue pair's connection for the blocking calls.
class QueuePair::EventBox {
 public:
  /// Whether the box, and the queue pair, are those of the process that this one was forked from.
  [[nodiscard]] bool refuses() const { return origin_.refuses(); }

  /// Takes the event's socket if a blocking call waits for it.
  void add(ConnectionEvent& event) {
    {
      const std::lock_guard lock(mutex_);
      if (wants_socket_) socket_ = std::exchange(event.socket, nullptr);
      auto& place = event.kind == ConnectionEvent::Kind::kEstablished ? established_ : ended_;
      if (!place) {
        place = event;
        place->socket = nullptr;
      }
    }
    changed_.notify_all();
  }

  /// Before a blocking call that adopts, whether it waits for the socket; and what came of it.
  void want_socket(bool wanted) {
    const std::lock_guard lock(mutex_);
    wants_socket_ = wanted;
  }
  std::shared_ptr<StreamingSocket> take_socket() {
    const std::lock_guard lock(mutex_);
    wants_socket_ = false;
    return std::exchange(socket_, nullptr);
  }

  /// The outcome of a start-up; nothing when the time is over.
  std::optional<Outcome<ConnectionInfo>> wait_established(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!wait(lock, timeout, [this] { return established_ || ended_; })) return std::nullopt;
    if (established_) return Outcome<ConnectionInfo>(established_->info);
    Error error = ended_->error;
    if (!error.code) {
      error = {std::make_error_code(std::errc::connection_reset), "the peer closed the connection"};
    }
    return Outcome<ConnectionInfo>(failure(std::move(error)));
  }

  /// Of that outcome, if it is there.
  [[nodiscard]] ConnectionInfo info() {
    if (origin_.inherited()) return {};
    const std::lock_guard lock(mutex_);
    const auto& outcome = established_ ? established_ : ended_;
    return outcome ? outcome->info : ConnectionInfo{};
  }

  bool wait_ended(std::chrono::milliseconds timeout) {
    if (refuses()) return false;
    std::unique_lock lock(mutex_);
    return wait(lock, timeout, [this] { return ended_.has_value(); });
  }

 private:
  template <typename Condition>
  bool wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout,
            Condition condition) {
    return wait_patiently(timeout,
                          [&](auto step) { return changed_.wait_for(lock, step, condition); });
  }

  const process::Origin origin_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ConnectionEvent> established_, ended_;
  bool wants_socket_ = false;
  std::shared_ptr<StreamingSocket> socket_;
};

}  // namespace iwarp::verbs
