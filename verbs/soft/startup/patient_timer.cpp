#include "soft/startup/patient_timer.hpp"

#include <new>
#include <utility>

namespace iwarp::verbs::soft {

using std::chrono::nanoseconds;
using tcp_offload::Handler;

PatientTimer::PatientTimer(tcp_offload::Device& device)
    : device_(device), timer_(device.make_timer()) {}

void PatientTimer::start(nanoseconds timeout, Handler<> handler) {
  deadline_.emplace(device_.now(), timeout);
  wait(deadline_->next_look(), &PatientTimer::look,
       std::make_shared<Handler<>>(std::move(handler)));
}

// The waits own the handler: what that has captured goes with the executor, if that ends first.
void PatientTimer::wait(nanoseconds step, Then then, SharedHandler handler) {
  timer_->async_wait(step, [=, this, handler = std::move(handler)](std::error_code error) {
    if (!error) (this->*then)(handler);
  });
}

// Without memory for another wait the time is over: a peer must not be waited for without one.
void PatientTimer::go_on(nanoseconds step, Then then, const SharedHandler& handler) {
  try {
    return wait(step, then, handler);
  } catch (const std::bad_alloc&) {
  }
  (*handler)();
}

// Between two waits of no time there is a whole turn of the executor: it asks for sockets that are
// ready, and calls their handlers. What these go on to read at once is there before the second.
void PatientTimer::look(const SharedHandler& handler) {
  switch (deadline_->look(device_.now())) {
    case Deadline::Verdict::kWait:
      return go_on(deadline_->next_look(), &PatientTimer::look, handler);
    case Deadline::Verdict::kReadFirst:
      return go_on(nanoseconds(0), &PatientTimer::look_again, handler);
    case Deadline::Verdict::kPassed: (*handler)();
  }
}

void PatientTimer::look_again(const SharedHandler& handler) {
  go_on(nanoseconds(0), &PatientTimer::look, handler);
}

}  // namespace iwarp::verbs::soft
