#include "soft/soft_qp.hpp"

#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

using rdmap::StreamAction;
using rdmap::StreamEvent;
using rdmap::StreamState;

std::string seconds(std::chrono::milliseconds time) {
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
  std::vector<std::byte> unsent(link.unsent.begin() + static_cast<std::ptrdiff_t>(link.unsent_from),
                                link.unsent.end());
  auto stream = std::move(link.mode.stream);
  // A device that does not copy may still read from what the link holds.
  init_.host->see_off({std::move(owned_link_), std::move(unsent), std::move(stream)});
}

// ---- Start-up ----

bool SoftQp::begin_startup() {
  return stream_state() == StreamState::kIdle && !connecting_.exchange(true);
}

Outcome<void> SoftQp::connect(const Endpoint& to, const ConnectOptions& options) {
  if (init_.device == nullptr) return fail(std::errc::operation_not_supported, "no device");
  if (!begin_startup()) {
    return fail(std::errc::already_connected,
                "queue pair " + std::to_string(number()) + " is not idle");
  }
  auto started =
      start_connect(*init_.device, to, options, [weak = weak_from_this()](StartupResult result) {
        if (const auto self = weak.lock()) {
          self->finish_startup(std::move(result));
        }
      });
  if (!started) {
    connecting_.store(false);
    return failure(started.error());
  }
  const std::lock_guard lock(state_mutex_);
  startup_ = std::move(*started);
  return {};
}

void SoftQp::finish_startup(StartupResult result) {
  if (!connecting_.load()) return;  // given up meanwhile
  if (auto* mode = std::get_if<RdmaMode>(&result)) return enter_rdma_mode(std::move(*mode));
  if (auto* error = std::get_if<Error>(&result)) {
    fail_startup(*error);
    return;
  }
  ConnectionEvent event{
      ConnectionEvent::Kind::kRejected,
      {std::make_error_code(std::errc::connection_refused), "the peer rejected the connection"},
      {}};
  auto& rejected = std::get<StartupRejected>(result);
  event.info.private_data = std::move(rejected.private_data);
  event.info.peer_ird = rejected.ird;
  event.info.peer_ord = rejected.ord;
  if (!connecting_.exchange(false)) return;
  notify(std::move(event));
  apply(StreamEvent::kLost);
  settle();
}

// False if there is no start-up any more that could fail.
bool SoftQp::fail_startup(const Error& error) {
  if (!connecting_.exchange(false)) return false;
  explain(error.message);
  notify({ConnectionEvent::Kind::kFailed, error, {}});
  apply(StreamEvent::kLost);
  settle();
  return true;
}

void SoftQp::enter_rdma_mode(RdmaMode mode) {
  const bool responder = mode.role == Role::kResponder;
  const bool waits = awaits_rtr(mode);
  ConnectionEvent established{ConnectionEvent::Kind::kEstablished, {}, mode.info};
  auto link = std::make_unique<Link>(*this, std::move(mode), init_.host->secret());
  hold_.store(responder);
  {
    const std::lock_guard lock(state_mutex_);
    const auto step = rdmap::transition(stream_state(), StreamEvent::kEnterRdmaMode);
    // Given up meanwhile: the stream goes with the link.
    if (!connecting_.exchange(false) || step.next == stream_state()) return;
    owned_link_ = std::move(link);
    link_.store(owned_link_.get());
    stream_state_.store(step.next);
  }
  if (waits) {
    set_deadline(init_.timeouts.first_fpdu);
  } else {
    notify(std::move(established));
  }
  init_.host->add(*this);
  init_.send_cq->attach(*this);
  init_.recv_cq->attach(*this);
  transmit();
  receive();  // octets that were read with the last start-up frame show on no descriptor
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
      set_deadline(init_.timeouts.closing);
      want_transmit_.store(true);
      return;
    case StreamState::kDraining:
      set_deadline(init_.timeouts.draining);
      want_transmit_.store(true);
      return;
    case StreamState::kClosed:
      clear_deadline();
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
  init_.host->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->init_.host->remove(*self);
    self->init_.send_cq->detach(*self);
    self->init_.recv_cq->detach(*self);
    ConnectionEvent event{ConnectionEvent::Kind::kDisconnected, {}, {}};
    {
      const std::lock_guard lock(self->state_mutex_);
      if (!self->graceful_) {
        event.error = {std::make_error_code(std::errc::connection_reset), self->reason_};
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

void SoftQp::explain(const std::string& reason) {
  const std::lock_guard lock(state_mutex_);
  graceful_ = false;
  if (reason_.empty()) reason_ = reason;
}

void SoftQp::lost(const std::string& reason) {
  explain(reason);
  apply(StreamEvent::kLost);
}

void SoftQp::order_terminate(const rdmap::Terminate& message, const char* reason) {
  explain(reason);
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
  apply(StreamEvent::kLocalDisconnect);
  settle();
}

void SoftQp::abort() {
  if (connecting_.load()) {
    std::unique_ptr<Startup> startup;
    {
      const std::lock_guard lock(state_mutex_);
      startup = std::move(startup_);
    }
    if (startup) startup->cancel();
    if (fail_startup({std::make_error_code(std::errc::connection_aborted), "aborted here"})) return;
  }
  lost("aborted here");
  settle();
}

// ---- Time-outs ----

void SoftQp::set_deadline(std::chrono::milliseconds from_now) {
  deadline_.store((init_.host->now() + from_now).time_since_epoch().count());
}

bool SoftQp::check_deadlines() {
  const Clock::rep now = init_.host->now().time_since_epoch().count();
  const auto passed = [now](Clock::rep deadline) { return deadline != 0 && now >= deadline; };
  if (passed(half_fpdu_deadline_.load())) {
    lost("half an FPDU came, and nothing more for " + seconds(init_.timeouts.half_fpdu));
  } else if (passed(deadline_.load())) {
    switch (stream_state()) {
      case StreamState::kOperational:
        lost("the peer sent no first FPDU for " + seconds(init_.timeouts.first_fpdu));
        break;
      case StreamState::kDraining:
        apply(StreamEvent::kLost);  // everything was said; the peer keeps its half open
        break;
      default: lost("what was posted could not be sent in " + seconds(init_.timeouts.closing));
    }
  }
  settle();
  return deadline_.load() != 0 || half_fpdu_deadline_.load() != 0;
}

// ---- What it says of itself ----

QpState SoftQp::state() const {
  if (connecting_.load()) return QpState::kConnecting;
  switch (stream_state()) {
    case StreamState::kIdle: return QpState::kIdle;
    case StreamState::kOperational: return QpState::kRts;
    case StreamState::kClosing: return QpState::kClosing;
    case StreamState::kTerminating: return QpState::kTerminate;
    case StreamState::kDraining: {
      const std::lock_guard lock(state_mutex_);
      return graceful_ ? QpState::kClosing : QpState::kTerminate;
    }
    case StreamState::kClosed: break;
  }
  return QpState::kError;
}

bool SoftQp::drained() const {
  return stream_state() == StreamState::kClosed && !connecting_.load() &&
         send_queue_.head() == send_queue_.tail() && receive_queue_.empty() &&
         receives_over_.load();
}

rdmap::ReceiveSource& SoftQp::receives() {
  if (init_.srq) return shared_receives_;
  return receive_queue_;
}

int SoftQp::descriptor() const {
  const Link* link = link_.load();
  return link == nullptr ? -1 : link->stream.descriptor();
}

QpCounters SoftQp::counters() const {
  const Link* link = link_.load();
  if (link == nullptr) return {};
  QpCounters counters;
  counters.sends = link->sends.value();
  counters.writes = link->writes.value();
  counters.reads = link->reads_done.value();
  counters.receives = link->receives.value();
  counters.immediates = link->immediates.value();
  counters.atomics = link->atomics.value();
  counters.peer_writes = link->peer_writes.value();
  counters.peer_reads = link->peer_reads.value();
  counters.peer_atomics = link->peer_atomics.value();
  counters.octets_sent = link->octets_sent.value();
  counters.octets_received = link->octets_received.value();
  counters.fpdus_sent = link->fpdus_sent.value();
  counters.fpdus_received = link->fpdus_received.value();
  return counters;
}

std::optional<TerminateInfo> SoftQp::terminate_sent() const {
  const std::lock_guard lock(state_mutex_);
  return terminate_sent_;
}

std::optional<TerminateInfo> SoftQp::terminate_received() const {
  const std::lock_guard lock(state_mutex_);
  return terminate_received_;
}

}  // namespace iwarp::verbs::soft
