#include "soft/qp/halves/halves.hpp"

#include <thread>

#include "iwarp/provider/failure.hpp"
#include "soft/qp/halves/scratch.hpp"

namespace iwarp::verbs::soft {

QpHalves::QpHalves(QpParts& parts) : parts_(parts) { parts_.driven = this; }

int QpHalves::descriptor() const {
  const Link* link = parts_.link.load();
  return link == nullptr ? -1 : link->stream.descriptor();
}

Waits QpHalves::waits() const {
  Waits waits;
  waits.input = receive_half_.reads();
  waits.room = transmit_half_.awaits_room();
  waits.looks = receive_half_.awaits_receive() || parts_.life.awaits_delivery() ||
                transmit_half_.awaits_memory();
  waits.input_ended = parts_.life.input_ended();
  return waits;
}

Pollers QpHalves::pollers() const {
  return {parts_.init.send_cq->signs(), parts_.init.recv_cq->signs()};
}

// Where processors are few, the thread that polls may have the one on which the executor was about
// to return from telling the program of the connection.
void QpHalves::drive() {
  if (parts_.phase.silent()) return std::this_thread::yield();
  flush();
  receive();
}

void QpHalves::flush() {
  parts_.deferral.restart();
  if (parts_.deferral.any() || transmit_half_.awaits_room()) transmit();
}

bool QpHalves::receive() {
  bool drained = false;
  contain([&] {
    Link* const link = parts_.link.load();
    if (link == nullptr || parts_.life.input_ended()) return;
    drained = receive_half_.run(*link);
  });
  settle();
  return drained;
}

void QpHalves::transmit() {
  contain([this] { transmit_half_.run(); });
  settle();
}

void QpHalves::settle() {
  contain([this] {
    Wanted& wanted = parts_.wanted;
    do {
      if (wanted.transmit.load() && wanted.transmit.exchange(false)) transmit_half_.run();
      if (wanted.flush.load()) receive_half_.flush_if_wanted();
    } while (wanted.transmit.load());
  });
  if (parts_.wanted.conclusion.load()) contain([this] { conclude(); });
}

// Whether a poller looks is asked behind begin(): a thread that makes an end of that flushes
// afterwards, and one of the two sees the other.
void QpHalves::on_sends_posted(std::size_t octets) {
  if (!parts_.deferral.has_company(octets)) return transmit();
  parts_.deferral.begin();
  if (!is_left_to_poller()) transmit();
}

// Where a poll does not look at each queue pair, it would not see what was left for it. A poller
// that has left, that sleeps, or that finds the stream over, sends or flushes nothing any more.
bool QpHalves::is_left_to_poller() const {
  const QpLife& life = parts_.life;
  return leased() && pollers().poll_each() && !pollers().asleep() && !life.flushes_sends() &&
         !life.given_up();
}

void QpHalves::on_receives_posted() {
  if (receive_half_.awaits_receive()) {
    receive();
    if (!receive_half_.awaits_receive()) parts_.want_read();
  }
  if (!parts_.life.flushes_receives()) return;
  parts_.wanted.flush.store(true);
  settle();
}

void QpHalves::flush_posted() {
  parts_.wanted.flush.store(true);  // never taken back: another thread may want it
  parts_.wanted.transmit.store(true);
  settle();
}

std::uint64_t QpHalves::octets_received() const {
  const Link* link = parts_.link.load();
  return link == nullptr ? 0 : link->received.octets();
}

bool QpHalves::drained() const {
  const bool ended = parts_.life.is_over() || parts_.life.given_up();
  return ended && !parts_.phase.silent() && parts_.sends.drained() &&
         parts_.receives.none_posted() && receive_half_.flushed();
}

void QpHalves::end_after(const std::exception& thrown) noexcept {
  const auto try_to = [](auto step) {
    try {
      step();
    } catch (const std::exception&) {
      return;
    }
  };
  try_to([&] {
    parts_.life.explain(abortive_end(EndedBy::kStack, EndLayer::kNone,
                                     error_of(thrown, "the stack cannot go on").message));
  });
  try_to([this] { parts_.life.apply(connection::LifeEvent::kLost); });
  try_to([] { Scratch::of_thread().batch.clear(); });  // a deregistration may be waiting for it
}

}  // namespace iwarp::verbs::soft
