#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "iwarp/verbs/verbs.hpp"

namespace iwarp::verbs {

/// Keeps what happened to a queue pair's connection for the blocking calls.
class QueuePair::EventBox {
 public:
  void add(const ConnectionEvent& event) {
    {
      const std::lock_guard lock(mutex_);
      auto& place = event.kind == ConnectionEvent::Kind::kEstablished ? established_ : ended_;
      if (!place) place = event;
    }
    changed_.notify_all();
  }

  /// The outcome of a start-up; nothing when the time is over.
  std::optional<Outcome<ConnectionInfo>> wait_established(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout, [this] { return established_ || ended_; })) {
      return std::nullopt;
    }
    if (established_) return Outcome<ConnectionInfo>(established_->info);
    Error error = ended_->error;
    if (!error.code) {
      error = {std::make_error_code(std::errc::connection_reset), "the peer closed the connection"};
    }
    return Outcome<ConnectionInfo>(failure(std::move(error)));
  }

  bool wait_ended(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return ended_.has_value(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ConnectionEvent> established_, ended_;
};

}  // namespace iwarp::verbs
