#include "sim/timer.hpp"

#include <cerrno>
#include <utility>

#include "sim/link.hpp"

namespace iwarp::tcp_offload::sim {

SimTimer::~SimTimer() { schedule_.cancel(wait_); }

void SimTimer::async_wait(Nanoseconds delay, TimerHandler handler) {
  cancel();
  *waiting_ = std::move(handler);
  wait_ = schedule_.after(delay, [waiting = std::weak_ptr<TimerHandler>(waiting_)] {
    // Moved out first: the handler may start the next wait or destroy the timer.
    if (const auto held = waiting.lock()) std::exchange(*held, TimerHandler())({});
  });
}

void SimTimer::cancel() {
  schedule_.cancel(wait_);
  if (!*waiting_) return;
  schedule_.soon([alive = std::weak_ptr<TimerHandler>(waiting_),
                  handler = std::exchange(*waiting_, TimerHandler())]() mutable {
    if (!alive.expired()) handler(system_error(ECANCELED));
  });
}

}  // namespace iwarp::tcp_offload::sim
