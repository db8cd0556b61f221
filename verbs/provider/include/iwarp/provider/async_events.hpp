#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <optional>

#include "iwarp/provider/lock.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs {

/// What happens on a device that no completion tells of. Thread-safe.
class AsyncEvents {
 public:
  /// To the program's handler, or kept for wait(): of more than kMost the oldest are dropped, and
  /// of more than kMostUnasked as long as no thread has called that.
  void report(AsyncEvent event);
  /// As provider::Provider::on_async_event(). No other call of a handler runs when this returns:
  /// handlers are called with the lock held, and must not call back.
  void on_event(std::function<void(const AsyncEvent&)> handler);
  /// As provider::Provider::wait_async_event().
  std::optional<AsyncEvent> wait(std::chrono::milliseconds timeout);

  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostUnasked = 32;

 private:
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool asked_ IWARP_GUARDED_BY(mutex_) = false;
  std::deque<AsyncEvent> kept_ IWARP_GUARDED_BY(mutex_);
  std::function<void(const AsyncEvent&)> handler_ IWARP_GUARDED_BY(mutex_);
};

}  // namespace iwarp::verbs
