#include "iwarp/mpa/mulpdu.hpp"
#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::LifeEvent;
using connection::MayLeave;
using connection::Output;

// How many gathering writes one queue pair sends before others get their turn: a quantum in octets,
// since the socket limits what it takes anyway.
constexpr int kBatchesPerTurn = 16;

}  // namespace

void SoftQp::transmit() {
  contain([this] { tx_.run([this] { transmit_some(); }); });
  settle();
}

void SoftQp::transmit_some() {
  const bool connected = link_.load() != nullptr;
  deferred_.store(false);
  if (connected) send_all();
  if (silent()) return;
  if (connected) retire();
  if (flushing() || given_up()) flush_requests();
  if (!connected) return;
  const Course now = course();
  const bool ending = now == Course::kClosing || now == Course::kTerminating;
  if (ending && nothing_left_to_send()) apply(LifeEvent::kAllSent, now);
  end_draining();
}

// Both halves have ended. Before the stream is over, the peer's TCP has acknowledged everything: a
// peer that had closed its socket answers what comes then by a reset, and what was sent is lost. A
// device that does not copy is done with the program's memory, too: nobody would look after it any
// more.
void SoftQp::end_draining() {
  const Link& link = *link_.load();
  if (!awaits_delivery() || link.stream.released() < link.outbound().accepted()) return;
  const auto delivery = link.stream.delivery();
  if (delivery.unacknowledged == 0) return apply(LifeEvent::kAllDelivered, Course::kDraining);
  if (delivery.lost) return lost(connection_lost(delivery.lost));
  init_.host->look_again(*this);
}

void SoftQp::send_all() {
  Link& link = *link_.load();
  const connection::Life now = life();
  const bool may_send = now.course == Course::kOperational || now.course == Course::kClosing ||
                        now.course == Course::kTerminating;
  if (!may_send || now.output == Output::kLost) return;
  if (now.course == Course::kTerminating) take_terminate();
  sending_.store(Sending::kGoesOn);
  const auto go_on = [&] {
    return sending_.load() == Sending::kGoesOn && life().output != Output::kLost;
  };
  // RFC 5044 §7.1.2 rule 4 holds back FPDUs; work that sends none is done up to the first of them.
  const auto send = [&] { return life().output == Output::kOpen && send_batch(); };
  for (int batches = 0; send() || (go_on() && perform_local());) {
    if (++batches < kBatchesPerTurn) continue;
    yield_turn();
    break;
  }
  if (!bad_request_ || link.outbound().terminating() || course() == Course::kClosed) {
    return;
  }
  rdmap::Terminate message;
  message.cause = rdmap::cause_of(rdmap::Error::kLocalCatastrophic);
  order_terminate(message, bad_request_->reason);
}

// Others get their turn; the socket calls again as soon as it takes more, which may be at once.
void SoftQp::yield_turn() {
  sending_.store(Sending::kAwaitsSocket);
  init_.host->want_write(*this);
}

// The socket has room: it would call at once, again and again.
void SoftQp::await_memory() {
  sending_.store(Sending::kAwaitsMemory);
  init_.host->look_again(*this);
}

void SoftQp::take_terminate() {
  const std::lock_guard lock(state_mutex_);
  if (!ordered_terminate_ || life().output == Output::kHeld) return;
  link_.load()->outbound().terminate(*ordered_terminate_);
  terminate_sent_ = terminate_info(*ordered_terminate_);
  ordered_terminate_.reset();
}

// Sends one gathering write. False if there was nothing to send, or the stream takes no more.
bool SoftQp::send_batch() {
  Link& link = *link_.load();
  connection::Outbound& outbound = link.outbound();
  connection::Batch& batch = Scratch::of_thread().batch;
  const std::size_t mulpdu = mpa::mulpdu(link.stream.emss(), outbound.markers());
  const auto offer = outbound.offer(batch, {.mulpdu = mulpdu, .may_leave = may_leave()});
  if (offer.fault) blame(*offer.fault);
  if (offer.pieces.empty()) return false;
  const auto sent = link.stream.send(offer.pieces);
  const auto cut = outbound.sent(batch, sent.accepted, link.stream.released());
  link.sent.publish(outbound.counters());
  if (cut) lose_cut_fpdu(*cut);
  if (course() == Course::kClosed) return false;
  return goes_on_after(sent);
}

connection::MayLeave SoftQp::may_leave() const {
  const bool no_more = given_up() || course() == Course::kTerminating;
  return no_more ? MayLeave::kRestOnly : MayLeave::kEverything;
}

// A peer may say its last word and close while this end is still sending. TCP answers what comes
// then by a reset, of which the sending half may learn first. What had arrived before, a Terminate
// perhaps, is still the program's: the receiving half ends the stream when it has seen all of it.
void SoftQp::lose_sending(const std::error_code& error) {
  link_.load()->send_error = error;
  apply(LifeEvent::kOutputLost);
  if (!input_ended()) init_.host->want_read(*this);
}

// A responder that has been told to disconnect meanwhile: behind the peer's RTR indication, which
// is on its way, leave what was posted and the answer to an RTR Read. Where none was agreed upon,
// the peer may never say a word.
bool SoftQp::rtr_comes_first() const {
  const bool graceful = course() == Course::kClosing && !given_up();
  return graceful && !input_ended() && awaits_rtr(link_.load()->mode);
}

bool SoftQp::nothing_left_to_send() {
  Link& link = *link_.load();
  if (life().output == Output::kHeld) return !local_due() && !rtr_comes_first();
  const connection::Outbound& outbound = link.outbound();
  if (!outbound.rest().empty()) return false;
  if (course() == Course::kTerminating) {
    const std::lock_guard lock(state_mutex_);
    return !ordered_terminate_ && (!outbound.terminating() || outbound.terminated());
  }
  const bool all_released = link.stream.released() >= outbound.accepted();
  if (given_up()) return all_released;
  if (!input_ended() && send_queue_.head() != send_queue_.tail()) return false;
  // Behind the FIN requests are flushed; those that have left are not to be. With the peer's half
  // ended no response will come: what waits for one never leaves.
  return all_released && !link.outbound().has_more();
}

}  // namespace iwarp::verbs::soft
