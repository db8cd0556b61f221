#include <utility>

#include "iwarp/process/no_cancel.hpp"
#include "iwarp/provider/async_events.hpp"
#include "iwarp/provider/failure.hpp"
#include "soft/qp/halves/halves.hpp"

/// The ends of the halves.
namespace iwarp::verbs::soft {

using connection::LifeEvent;

// What has completed still arrives, as after a graceful end, but nothing that is posted leaves any
// more, beyond the FPDU that has been cut: its completions come at once. What comes in is dropped.
void QpHalves::close() {
  parts_.life.explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "closed here"));
  parts_.life.apply(LifeEvent::kClose);
  flush_posted();
}

// Nothing would wake the engine or a poller: the peer gets a reset instead of silence.
void QpHalves::cannot_be_watched(const std::error_code& why) {
  parts_.life.lose("the system refuses to watch the connection's socket: " + why.message());
  settle();
}

bool QpHalves::delivered() const {
  const Link* link = parts_.link.load();
  if (link == nullptr || parts_.life.is_over()) return true;
  return parts_.life.course() == connection::Course::kDraining &&
         link->stream.delivery().unacknowledged == 0;
}

// Leaves the queues and the engine, and tells the program; not inside a half. Where there is no
// memory for that, or for what the halves are to do before, the look at the deadlines tries it
// again.
void QpHalves::conclude() {
  const process::NoCancel whole;
  Wanted& wanted = parts_.wanted;
  if (!wanted.conclusion.exchange(false) || parts_.link.load() == nullptr) return;
  try {
    parts_.init.services->executor.post(
        [weak = parts_.self, this, end = parts_.end_of_connection()] {
          const auto self = weak.lock();
          if (self && !settled()) return;
          log_end(end);
          if (!self) return;
          report_end(end);
          tell_end();
        });
  } catch (const std::exception&) {
    wanted.conclusion.store(true);
    throw;
  }
}

// Whether the halves have done all that they are to do before the end is told: nothing calls them
// afterwards. Otherwise the conclusion is wanted once more. A thread that is inside one may be
// doing it, or fail to: what it leaves undone is wanted again before it leaves. One that has taken
// a wish may not have come inside yet: so all is wanted here.
bool QpHalves::settled() {
  flush_posted();
  Wanted& wanted = parts_.wanted;
  const auto done = [&] { return released_.load() || (!busy() && !wanted.of_halves()); };
  if (done()) return true;
  wanted.conclusion.store(true);
  // Another thread may have done it meanwhile, and saw no conclusion wanted.
  return done() && wanted.conclusion.exchange(false);
}

// On the executor.
void QpHalves::tell_end() {
  detach();
  const ConnectionEvent event{ConnectionEvent::Kind::kDisconnected, parts_.life.error_of_end(), {}};
  if (parts_.init.on_event) parts_.init.on_event(event);
}

void QpHalves::report_end(const EndOfConnection& end) noexcept {
  try {
    if (auto event = event_of(end)) parts_.init.services->events.report(std::move(*event));
  } catch (const std::exception& thrown) {
    log_failure("an event of a connection is lost", thrown);
  }
}

void QpHalves::detach() {
  parts_.init.services->sockets.remove(*this);
  parts_.init.send_cq->attached().detach(*this);
  parts_.init.recv_cq->attached().detach(*this);
}

// An adapter places nothing for a queue pair that has been destroyed: its memory may be used for
// something else, registered or not. The engine or a poller may be in the middle of a Write, and
// may have lost its processor there. What has been posted leaves as far as TCP takes it.
void QpHalves::release() {
  if (released_.exchange(true)) return;
  receive_half_.close();
  contain([this] { transmit_half_.close(); });
  settle();  // the halves are closed: the end may be still to be told
  parts_.discard_completions();
}

}  // namespace iwarp::verbs::soft
