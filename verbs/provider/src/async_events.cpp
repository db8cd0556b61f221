#include "iwarp/provider/async_events.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/base/deadline.hpp"
#include "iwarp/provider/failure.hpp"

namespace iwarp::verbs {

void AsyncEvents::report(AsyncEvent event) {
  {
    const Guard lock(mutex_);
    if (handler_) {
      const auto* const handler = &handler_;
      return call_program([&] { (*handler)(event); });
    }
    if (kept_.size() == (asked_ ? kMost : kMostUnasked)) kept_.pop_front();
    kept_.push_back(std::move(event));
  }
  changed_.notify_one();
}

void AsyncEvents::on_event(std::function<void(const AsyncEvent&)> handler) {
  const Guard lock(mutex_);
  handler_ = std::move(handler);
}

std::optional<AsyncEvent> AsyncEvents::wait(std::chrono::milliseconds timeout) {
  timeout = std::min<std::chrono::milliseconds>(timeout, kLongestWait);
  const auto until = std::chrono::steady_clock::now() + timeout;
  const Guard lock(mutex_);
  asked_ = true;
  while (kept_.empty()) {
    const bool late = changed_.wait_until(mutex_, until) == std::cv_status::timeout;
    if (late && kept_.empty()) return std::nullopt;
  }
  AsyncEvent event = std::move(kept_.front());
  kept_.pop_front();
  return event;
}

}  // namespace iwarp::verbs
