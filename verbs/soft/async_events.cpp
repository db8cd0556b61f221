#include "soft/async_events.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/verbs/connection.hpp"

namespace iwarp::verbs::soft {

void AsyncEvents::report(AsyncEvent event) {
  {
    const std::lock_guard lock(mutex_);
    if (handler_) return handler_(event);
    if (kept_.size() == kMost) kept_.pop_front();
    kept_.push_back(std::move(event));
  }
  changed_.notify_one();
}

void AsyncEvents::on_event(std::function<void(const AsyncEvent&)> handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

std::optional<AsyncEvent> AsyncEvents::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  timeout = std::min<std::chrono::milliseconds>(timeout, kLongestWait);
  if (!changed_.wait_for(lock, timeout, [this] { return !kept_.empty(); })) return std::nullopt;
  AsyncEvent event = std::move(kept_.front());
  kept_.pop_front();
  return event;
}

}  // namespace iwarp::verbs::soft
