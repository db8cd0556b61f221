#include "soft/soft_qp.hpp"

#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

using rdmap::StreamAction;
using rdmap::StreamEvent;
using rdmap::StreamState;

std::string seconds(std::chrono::milliseconds time) {
  if (time < std::chrono::seconds(1)) return std::to_string(time.count()) + " ms";
  return std::to_string(time.count() / 1000) + " s";
}

}  // namespace

SoftQp::SoftQp(Init init)
    : init_(std::move(init)),
      send_queue_(init_.capacity.max_send_wr, init_.capacity.max_send_sge,
                  init_.capacity.max_inline),
      receive_queue_(init_.srq ? 0 : init_.capacity.max_recv_wr, init_.capacity.max_recv_sge),
      shared_receives_(init_.srq) {}

SoftQp::~SoftQp() {
  if (startup_) startup_->cancel();
  if (!owned_link_) return;
  init_.host->remove(*this);
  init_.send_cq->detach(*this);
  init_.recv_cq->detach(*this);
  Link& link = *owned_link_;
  init_.host->account_tail(-static_cast<std::ptrdiff_t>(link.tail_size));
  if (stream_state() == StreamState::kClosed) return;
  explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "the queue pair was destroyed here"));
  init_.host->post([end = end_of_connection()] { log_end(end); });
  std::vector<std::byte> unsent(link.unsent.begin() + static_cast<std::ptrdiff_t>(link.unsent_from),
                                link.unsent.end());
  auto stream = std::move(link.mode.stream);
  // A device that does not copy may still read from what the link holds.
  init_.host->see_off({std::move(owned_link_), std::move(unsent), std::move(stream)});
}

// ---- State ----

void SoftQp::apply(StreamEvent event, std::optional<StreamState> only_in) {
  StreamState before;
  rdmap::StreamTransition step;
  {
    const std::lock_guard lock(state_mutex_);
    before = stream_state();
    if (only_in && before != *only_in) return;
    step = rdmap::transition(before, event);
    stream_state_.store(step.next);
  }
  if (before == step.next) return;
  Link* link = link_.load();
  if (link != nullptr && step.action == StreamAction::kShutdownSend) link->stream.shutdown_send();
  if (link != nullptr && step.action == StreamAction::kAbort) link->stream.abort();
  enter(step.next);
}

void SoftQp::enter(StreamState state) {
  switch (state) {
    case StreamState::kIdle:
    case StreamState::kOperational: return;
    case StreamState::kTerminating: want_flush_.store(true); [[fallthrough]];
    case StreamState::kClosing:
      deadline_.store(from_now(init_.timeouts.closing));
      want_transmit_.store(true);
      return;
    case StreamState::kDraining:
      deadline_.store(from_now(init_.timeouts.draining));
      want_transmit_.store(true);
      return;
    case StreamState::kClosed:
      deadline_.store(0);
      gone_deadline_.store(0);
      half_fpdu_deadline_.store(0);
      want_transmit_.store(true);
      want_flush_.store(true);
      finish_close();
      return;
  }
}

// Leaves the queues and the engine, and tells the program; none of that inside a half.
void SoftQp::finish_close() {
  if (link_.load() == nullptr) return;
  init_.host->post([weak = weak_from_this(), end = end_of_connection()] {
    log_end(end);
    const auto self = weak.lock();
    if (!self) return;
    if (auto event = event_of(end)) self->init_.host->report(std::move(*event));
    self->init_.host->remove(*self);
    self->init_.send_cq->detach(*self);
    self->init_.recv_cq->detach(*self);
    ConnectionEvent event{ConnectionEvent::Kind::kDisconnected, {}, {}};
    {
      const std::lock_guard lock(self->state_mutex_);
      if (!self->graceful_) {
        event.error = {std::make_error_code(std::errc::connection_reset),
                       self->diagnosis_.sentence};
      }
    }
    if (self->init_.on_event) self->init_.on_event(event);
  });
}

void SoftQp::notify(ConnectionEvent event) {
  if (!init_.on_event) return;
  init_.host->post([weak = weak_from_this(), event = std::move(event)] {
    if (const auto self = weak.lock()) self->init_.on_event(event);
  });
}

// Does what was wanted inside a half, now that nobody of this thread is inside.
void SoftQp::settle() {
  do {
    if (want_transmit_.exchange(false)) tx_.run([this] { transmit_some(); });
    if (want_flush_.load()) rx_.run([this] { flush_if_wanted(); });
  } while (want_transmit_.load());
}

// The first cause counts; a fault outranks a graceful end under way.
void SoftQp::explain(Diagnosis why) {
  const std::lock_guard lock(state_mutex_);
  if (stream_state() == StreamState::kClosed) return;
  const bool news = why.graceful ? diagnosis_.by == EndedBy::kNobody : graceful_;
  if (!why.graceful) graceful_ = false;
  if (news) diagnosis_ = std::move(why);
}

void SoftQp::lost(const std::string& reason) {
  lost(abortive_end(EndedBy::kStack, EndLayer::kNone, reason));
}

void SoftQp::lost(Diagnosis why) {
  explain(std::move(why));
  apply(StreamEvent::kLost);
}

// Of connectionless queue pairs. On InfiniBand nobody hears that the peer has gone: receives stay
// posted, and what is sent fails when it has stayed without an answer for the retry time. Programs
// count on that: ibv_srq_pingpong's ends post more than the other waits for, and would take a
// failure that comes at once for one of what they are still about to receive.
bool SoftQp::outlive_peer() {
  if (!init_.connectionless || ending_.load() || given_up_.load()) return false;
  if (stream_state() != StreamState::kOperational) return false;
  if (!peer_gone_.exchange(true)) {
    gone_deadline_.store(from_now(init_.timeouts.unreachable));
  }
  return true;
}

void SoftQp::stop_outliving() {
  gone_deadline_.store(0);
  want_transmit_.store(true);
  apply(StreamEvent::kPeerFin, StreamState::kOperational);
}

// The peer or the network has ended the connection, and not between two messages.
void SoftQp::lose_connection(Diagnosis why) {
  explain(std::move(why));
  if (!outlive_peer()) apply(StreamEvent::kLost);
}

void SoftQp::order_terminate(const rdmap::Terminate& message, const char* reason) {
  explain(fault_found_here(message, reason));
  {
    const std::lock_guard lock(state_mutex_);
    if (!ordered_terminate_ && !terminate_sent_) ordered_terminate_ = message;
  }
  apply(StreamEvent::kFault);
}

// Whether receives complete as flushed. A graceful end goes on receiving until the peer's FIN.
bool SoftQp::flushing_receives() const {
  const StreamState state = stream_state();
  if (state != StreamState::kDraining) return flushing();
  const std::lock_guard lock(state_mutex_);
  return !graceful_;
}

// Whether send requests do.
bool SoftQp::flushing() const {
  const StreamState state = stream_state();
  return state == StreamState::kTerminating || state == StreamState::kDraining ||
         state == StreamState::kClosed;
}

void SoftQp::disconnect() {
  if (connecting_.load()) return abort();
  ending_.store(true);
  explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "disconnected here"));
  apply(StreamEvent::kLocalDisconnect);
  settle();
}

void SoftQp::abort() {
  given_up_.store(true);
  want_flush_.store(want_flush_.load() || flushing_receives());
  if (connecting_.load()) {
    std::unique_ptr<Startup> startup;
    {
      const std::lock_guard lock(state_mutex_);
      startup = std::move(startup_);
    }
    if (startup) startup->cancel();
    if (fail_startup({std::make_error_code(std::errc::connection_aborted), "aborted here"})) return;
  }
  lost(abortive_end(EndedBy::kProgram, EndLayer::kNone, "aborted here"));
  settle();
}

// ---- Time-outs ----

SoftQp::Clock::rep SoftQp::from_now(std::chrono::milliseconds time) const {
  return (init_.host->now() + time).time_since_epoch().count();
}

// How long the rest of an FPDU has been awaited, if that is too long. Peers that fill the room
// which all connections share with halves must not keep it from the others: then little time is
// left.
std::optional<std::chrono::milliseconds> SoftQp::expired_half_fpdu() const {
  const Clock::time_point deadline{Clock::duration{half_fpdu_deadline_.load()}};
  if (deadline == Clock::time_point{}) return std::nullopt;
  const auto allowed =
      init_.host->tail_room() ? init_.timeouts.half_fpdu : init_.timeouts.half_fpdu_full;
  const auto waited = init_.host->now() - (deadline - init_.timeouts.half_fpdu);
  if (waited < allowed) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(waited);
}

bool SoftQp::check_deadlines() {
  const Clock::rep now = init_.host->now().time_since_epoch().count();
  const auto passed = [now](Clock::rep deadline) { return deadline != 0 && now >= deadline; };
  const auto timed_out = [](EndLayer layer, const std::string& what) {
    return abortive_end(EndedBy::kNetwork, layer, what);
  };
  if (const auto waited = expired_half_fpdu()) {
    lost(timed_out(EndLayer::kMpa, "half an FPDU came, and not the rest for " + seconds(*waited)));
  } else if (passed(gone_deadline_.load())) {
    stop_outliving();
  } else if (passed(deadline_.load())) {
    switch (stream_state()) {
      case StreamState::kOperational:
        lost(timed_out(EndLayer::kMpa,
                       "the peer sent no first FPDU for " + seconds(init_.timeouts.first_fpdu)));
        break;
      case StreamState::kDraining:
        apply(StreamEvent::kLost);  // everything was said; the peer keeps its half open
        break;
      default:
        lost(timed_out(EndLayer::kTcp,
                       "what was posted could not be sent in " + seconds(init_.timeouts.closing)));
    }
  }
  // No socket may be about to say so: a call may fail on one that is sound.
  if (awaits_receive() || sending_lost_.load()) receive();
  settle();
  return deadline_.load() != 0 || gone_deadline_.load() != 0 || awaits_receive() ||
         half_fpdu_deadline_.load() != 0;
}

}  // namespace iwarp::verbs::soft
