#include <string>
#include <utility>

#include "iwarp/provider/async_events.hpp"
#include "soft/qp/halves/receive_half.hpp"

/// Receives that no message fills any more.
namespace iwarp::verbs::soft {

// A thread that is to flush requests first does so inside the transmit half, and settles when it
// has left: it finds the wish.
void ReceiveHalf::flush_inside() {
  if (!parts_.wanted.flush.load() || parts_.phase.silent()) return;
  stop_placing();
  if (!parts_.requests_flushed.load() || !parts_.wanted.flush.exchange(false)) return;
  try {
    flush();
  } catch (...) {
    parts_.wanted.flush.store(true);  // the rest of it
    throw;
  }
}

void ReceiveHalf::stop_placing() {
  Link* const link = parts_.link.load();
  if (link == nullptr || placing_stopped_) return;
  parts_.life.apply(connection::LifeEvent::kInputStopped);
  if (awaits_receive()) set_awaits_receive(false);
  if (const auto open = link->inbound().stop()) begun_ = *open;
  account_kept(*link);
  placing_stopped_ = true;
  parts_.wanted.transmit.store(true);  // Reads waited for that
}

// The receive that a message had begun to fill, if there is one. A program that sees the completion
// may post anew at once: the entry is free before.
void ReceiveHalf::complete_begun(Status status) {
  if (!begun_) return;
  const rdmap::ReceiveBuffer buffer = *std::exchange(begun_, std::nullopt);
  parts_.receives.vacate_shared();
  complete_unfilled(buffer, status);
}

// Completes what is posted, in order.
void ReceiveHalf::flush() {
  stop_placing();
  complete_begun(Status::kFlushed);
  if (keeps_receives()) return;
  while (const auto buffer = parts_.receives.take_own()) {
    complete_unfilled(*buffer, Status::kFlushed);
  }
  parts_.receives.vacate_shared();
  if (receives_over_.load()) return;
  if (parts_.receives.are_shared()) report_last_of_shared();
  receives_over_.store(true);
}

void ReceiveHalf::report_last_of_shared() {
  const std::uint32_t number = parts_.init.number;
  parts_.init.services->events.report({AsyncEvent::Kind::kQpLastWqeReached, number,
                                       "queue pair " + std::to_string(number) +
                                           " has ended and takes no more of its shared receives"});
}

// As on InfiniBand: a program that knows no connection would not understand why its receives end.
bool ReceiveHalf::keeps_receives() const {
  return parts_.connectionless && !parts_.life.given_up() && parts_.life.is_graceful();
}

void ReceiveHalf::complete_unfilled(const rdmap::ReceiveBuffer& buffer, Status status) {
  Completion completion;
  completion.wr_id = buffer.cookie;
  completion.qp_number = parts_.init.number;
  completion.opcode = CompletionOpcode::kReceive;
  completion.status = status;
  parts_.init.recv_cq->push(completion, parts_.receives.places());
}

}  // namespace iwarp::verbs::soft
