#include "soft/startup/patient_timer.hpp"

#include <utility>

namespace iwarp::verbs::soft {

using std::chrono::nanoseconds;
using tcp_offload::Handler;

PatientTimer::PatientTimer(tcp_offload::Device& device)
    : device_(device), timer_(device.make_timer()) {}

void PatientTimer::start(nanoseconds timeout, Handler<> handler) {
  deadline_.emplace(device_.now(), timeout);
  wait(deadline_->next_look(), std::move(handler));
}

// The wait owns the handler: what that has captured goes with the executor, if that ends first.
void PatientTimer::wait(nanoseconds step, Handler<> handler) {
  timer_->async_wait(step, [this, handler = std::move(handler)](std::error_code error) mutable {
    if (!error) look(std::move(handler));
  });
}

void PatientTimer::look(Handler<> handler) {
  switch (deadline_->look(device_.now())) {
    case Deadline::Verdict::kWait: return wait(deadline_->next_look(), std::move(handler));
    case Deadline::Verdict::kReadFirst: return let_the_executor_read(std::move(handler));
    case Deadline::Verdict::kPassed: handler();
  }
}

// Between two waits of no time there is a whole turn of the executor: it asks for sockets that are
// ready, and calls their handlers. What these go on to read at once is there before the second.
void PatientTimer::let_the_executor_read(Handler<> handler) {
  const auto no_time = nanoseconds(0);
  timer_->async_wait(no_time, [=, this, handler = std::move(handler)](auto error) mutable {
    if (!error) wait(no_time, std::move(handler));
  });
}

}  // namespace iwarp::verbs::soft
