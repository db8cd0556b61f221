#include "timer.hpp"

#include <cerrno>
#include <utility>

#include "link.hpp"

namespace iwarp::tcp_offload::sim {

SimTimer::~SimTimer() { schedule_.cancel(wait_); }

void SimTimer::async_wait(Nanoseconds delay, TimerHandler handler) {
  cancel();
  waiting_->handler = std::move(handler);
  const unsigned number = ++waiting_->number;
  const auto fire = [waiting = std::weak_ptr<Wait>(waiting_), number] {
    const auto held = waiting.lock();
    // A program that was stopped may have cancelled it since.
    if (held == nullptr || held->number != number || !held->handler) return;
    // Moved out first: the handler may start the next wait or destroy the timer.
    std::exchange(held->handler, TimerHandler())({});
  };
  wait_ = schedule_.after(
      delay, [program = &program_, fire] { program->call(Program::Source::kTimer, fire); });
}

void SimTimer::cancel() {
  schedule_.cancel(wait_);
  if (!waiting_->handler) return;
  schedule_.soon([alive = std::weak_ptr<Wait>(waiting_),
                  handler = std::exchange(waiting_->handler, TimerHandler())]() mutable {
    if (!alive.expired()) handler(system_error(ECANCELED));
  });
}

}  // namespace iwarp::tcp_offload::sim
