#include "soft/qp/halves/transmit_half.hpp"

#include "iwarp/mpa/mulpdu.hpp"
#include "soft/qp/halves/scratch.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::LifeEvent;
using connection::MayLeave;
using connection::Output;

// How many octets, and by how many gathering writes, one queue pair sends before others get their
// turn.
constexpr std::uint64_t kOctetsPerTurn = std::uint64_t{4} * 1024 * 1024;
constexpr int kStepsPerTurn = 64;

MayLeave may_leave(const connection::Life& life) {
  const bool no_more =
      life.program == connection::Program::kGone || life.course == Course::kTerminating;
  return no_more ? MayLeave::kRestOnly : MayLeave::kEverything;
}

}  // namespace

void TransmitHalf::run() {
  inside_.run([this] {
    inside_.assert_inside();
    run_inside();
  });
}

void TransmitHalf::close() {
  inside_.close(parts_.init.services->pause, [this] {
    inside_.assert_inside();
    run_inside();
  });
}

void TransmitHalf::run_inside() {
  try {
    run_turn();
  } catch (...) {
    parts_.wanted.transmit.store(true);  // the rest of it
    throw;
  }
}

void TransmitHalf::run_turn() {
  parts_.deferral.end();
  Link* const link = parts_.link.load();
  QpLife& life = parts_.life;
  if (link != nullptr) send_all(*link);
  if (parts_.phase.silent()) return;
  if (link != nullptr) complete_sent(*link);
  if (life.flushes_sends() || life.given_up()) flush_requests();
  if (link == nullptr) return;
  const Course now = life.course();
  const bool ending = now == Course::kClosing || now == Course::kTerminating;
  if (ending && all_has_left(*link)) life.apply(LifeEvent::kAllSent, now);
  end_draining(*link);
}

void TransmitHalf::send_all(Link& link) {
  QpLife& life = parts_.life;
  const connection::Life now = life.now();
  const bool may_send = now.course == Course::kOperational || now.course == Course::kClosing ||
                        now.course == Course::kTerminating;
  if (!may_send || now.output == Output::kLost) return;
  if (now.course == Course::kTerminating) {
    if (const auto terminate = life.take_terminate()) link.outbound().terminate(*terminate);
  }
  if (sending_.load() != Sending::kGoesOn) sending_.store(Sending::kGoesOn);
  const std::uint64_t before = link.outbound().accepted();
  for (int steps = 0; take_step(link);) {
    const std::uint64_t octets = link.outbound().accepted() - before;
    if (++steps < kStepsPerTurn && octets < kOctetsPerTurn) continue;
    yield_turn();
    break;
  }
  if (!bad_request_ || link.outbound().terminating() || life.is_over()) return;
  rdmap::Terminate message;
  message.cause = rdmap::cause_of(rdmap::Error::kLocalCatastrophic);
  life.order_terminate(message, bad_request_->reason);
}

// RFC 5044 §7.1.2 rule 4 holds back FPDUs; work that sends none is done up to the first of them.
bool TransmitHalf::take_step(Link& link) {
  const QpLife& life = parts_.life;
  if (life.now().output == Output::kOpen && send_batch(link)) return true;
  const bool goes_on = sending_.load() == Sending::kGoesOn && life.now().output != Output::kLost;
  return goes_on && perform_local(link);
}

connection::OutboundLimits TransmitHalf::limits(const Link& link) const {
  connection::OutboundLimits limits;
  limits.mulpdu = mpa::mulpdu(link.stream.emss(), link.outbound().markers());
  limits.max_fpdu = parts_.init.max_fpdu;
  limits.may_leave = may_leave(parts_.life.now());
  limits.quantum = link.stream.send_quantum();
  return limits;
}

// Sends one gathering write. False if there is nothing else to send, or the stream takes no more: a
// thread that has more to send asks for another round.
bool TransmitHalf::send_batch(Link& link) {
  connection::Outbound& outbound = link.outbound();
  connection::Batch& batch = Scratch::of_thread().batch;
  const auto offer = outbound.offer(batch, limits(link));
  if (offer.fault) blame(*offer.fault);
  if (offer.pieces.empty()) return false;
  const std::size_t offered = batch.size();
  const auto sent = link.stream.send(offer.pieces);
  const auto cut = outbound.sent(batch, sent.accepted, link.stream.released());
  link.sent.publish(outbound.counters());
  if (cut) lose_cut_fpdu(*cut);
  if (parts_.life.is_over() || !goes_on_after(sent, link)) return false;
  return !offer.all || sent.accepted != offered;
}

// Whether the next request is one that sends nothing, and to be performed now: not once requests
// are flushed.
bool TransmitHalf::local_due(const Link& link) const {
  if (bad_request_ || parts_.life.given_up() || parts_.life.flushes_sends()) return false;
  return link.outbound().local_due();
}

// Performs the work request whose turn has come; false if there is none. What is before it has been
// handed to the stream, or copied; what is behind it has not been looked at.
bool TransmitHalf::perform_local(Link& link) {
  if (!local_due(link)) return false;
  const std::uint32_t position = link.outbound().next_request();
  const LocalWork& work = parts_.sends.local(position);
  MemoryRegistry& memory = parts_.memory();
  bool done = false;
  switch (work.opcode) {
    case Opcode::kBindWindow: done = memory.bind(work.bind, parts_.accessor()); break;
    case Opcode::kRegister:
      done = memory.register_fast(work.registration, parts_.accessor());
      break;
    default: done = memory.invalidate(work.invalidate, parts_.accessor()); break;
  }
  if (!done) {
    bad_request_ = {position, Status::kWindowBindError,
                    "a work request names an STag that may not be bound, registered or ended so"};
    return false;
  }
  link.outbound().skip_local();
  return true;
}

// Others get their turn; the socket calls again as soon as it takes more, which may be at once.
void TransmitHalf::yield_turn() {
  sending_.store(Sending::kAwaitsSocket);
  parts_.want_write();
}

// The socket has room: it would call at once, again and again.
void TransmitHalf::await_memory() {
  sending_.store(Sending::kAwaitsMemory);
  parts_.look_again();
}

bool TransmitHalf::all_has_left(Link& link) const {
  const QpLife& life = parts_.life;
  connection::Outbound& outbound = link.outbound();
  if (life.now().output == Output::kHeld) return !local_due(link) && !rtr_comes_first(link);
  if (!outbound.rest().empty()) return false;
  if (life.course() == Course::kTerminating) {
    return !life.owes_terminate() && (!outbound.terminating() || outbound.terminated());
  }
  const bool all_released = link.stream.released() >= outbound.accepted();
  if (life.given_up()) return all_released;
  if (!life.input_ended() && parts_.sends.any()) return false;
  // Behind the FIN requests are flushed; those that have left are not to be. With the peer's half
  // ended no response will come: what waits for one never leaves.
  return all_released && !outbound.has_more();
}

// A responder that has been told to disconnect meanwhile: behind the peer's RTR indication, which
// is on its way, leave what was posted and the answer to an RTR Read. Where none was agreed upon,
// the peer may never say a word.
bool TransmitHalf::rtr_comes_first(const Link& link) const {
  const QpLife& life = parts_.life;
  const bool graceful = life.course() == Course::kClosing && !life.given_up();
  return graceful && !life.input_ended() && link.awaits_rtr();
}

// Both halves have ended. Before the stream is over, the peer's TCP has acknowledged everything: a
// peer that had closed its socket answers what comes then by a reset, and what was sent is lost. A
// device that does not copy is done with the program's memory, too: no thread would look after it
// any more.
void TransmitHalf::end_draining(const Link& link) {
  QpLife& life = parts_.life;
  const bool both_ended = life.awaits_delivery();
  if (!both_ended || link.stream.released() < link.outbound().accepted()) return;
  const auto delivery = link.stream.delivery();
  if (delivery.unacknowledged == 0) return life.apply(LifeEvent::kAllDelivered, Course::kDraining);
  if (delivery.lost) return life.lose(connection_lost(delivery.lost));
  parts_.look_again();
}

}  // namespace iwarp::verbs::soft
