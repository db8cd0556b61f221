#include "iwarp/process/memory_faults.hpp"
#include "soft/failure.hpp"
#include "soft/qp_link.hpp"
#include "soft/startup/adopt.hpp"

namespace iwarp::verbs::soft {

using connection::Course;
using connection::LifeEvent;

namespace {

// Why there is no connection, as the program is told.
ConnectionEvent event_of(StartupRejected rejected) {
  ConnectionEvent event{
      ConnectionEvent::Kind::kRejected,
      {std::make_error_code(std::errc::connection_refused), "the peer rejected the connection"},
      {}};
  if (rejected.refused_here) {
    event.kind = ConnectionEvent::Kind::kFailed;
    event.error = *rejected.refused_here;
  }
  event.info.private_data = std::move(rejected.private_data);
  event.info.peer_ird = rejected.ird;
  event.info.peer_ord = rejected.ord;
  if (rejected.kept.connection != nullptr) {
    StreamingSocket socket = give_socket(std::move(rejected.kept));
    if (socket) event.socket = std::make_shared<StreamingSocket>(std::move(socket));
  }
  return event;
}

}  // namespace

bool SoftQp::claim_startup() {
  return course() == Course::kIdle && advance(StartUp::kNone, StartUp::kUnderWay);
}

// Programs that have accepted post without waiting to be told that the connection is there: the
// verbs take an accepted queue pair for one that works. What they post goes out once the peer has
// sent its first FPDU (RFC 5044 §7.1.2), or is flushed.
bool SoftQp::begin_startup() {
  if (origin_.refuses() || !claim_startup()) return false;
  accepted_.store(true);
  return true;
}

Outcome<void> SoftQp::connect(const Endpoint& to, const ConnectOptions& options) {
  return start_up([&](StartupHandler handler) {
    return start_connect(*init_.device, to, options, std::move(handler));
  });
}

Outcome<void> SoftQp::adopt(StreamingSocket& socket, const ConnectOptions& options) {
  return start_up([&](StartupHandler handler) {
    return adopt_as_initiator(*init_.device, socket, options, std::move(handler));
  });
}

Outcome<void> SoftQp::start_up(const StartInitiator& start) {
  if (origin_.refuses()) return refused();
  if (init_.device == nullptr) return fail(std::errc::operation_not_supported, "no device");
  if (!claim_startup()) {
    return fail(std::errc::already_connected,
                "queue pair " + std::to_string(number()) + " is not idle");
  }
  try {
    auto started = start([weak = weak_from_this()](StartupResult result) {
      if (const auto self = weak.lock()) self->finish_startup(std::move(result));
    });
    if (started) {
      const std::lock_guard lock(state_mutex_);
      startup_ = std::move(*started);
      return {};
    }
    advance(StartUp::kUnderWay, StartUp::kNone);
    return failure(started.error());
  } catch (const std::exception& thrown) {
    advance(StartUp::kUnderWay, StartUp::kNone);
    return failure(short_error_of(thrown, [] { return "the connection cannot be started"; }));
  }
}

// A start-up that cannot be finished for lack of memory has failed.
void SoftQp::finish_startup(StartupResult result) {
  if (!connecting()) return;  // given up meanwhile
  try {
    conclude(std::move(result));
  } catch (const std::exception& thrown) {
    Error error = short_error_of(thrown, [] { return "the connection cannot be started"; });
    if (fail_startup(error)) {
      return tell_failure({ConnectionEvent::Kind::kFailed, std::move(error), {}});
    }
    end_after(thrown);
    end_silence();
  }
}

void SoftQp::conclude(StartupResult result) {
  if (auto* mode = std::get_if<RdmaMode>(&result)) return enter_rdma_mode(std::move(*mode));
  if (auto* rejected = std::get_if<StartupRejected>(&result)) {
    const ConnectionEvent event = event_of(std::move(*rejected));
    const bool over =
        fail_startup(abortive_end(EndedBy::kPeerReject, EndLayer::kMpa, event.error.message));
    if (over) tell_failure(event);
    return;
  }
  const Error& error = std::get<Error>(result);
  if (fail_startup(failed_startup(error))) {
    tell_failure({ConnectionEvent::Kind::kFailed, error, {}});
  }
}

// The diagnosis may lack its sentence for lack of memory.
bool SoftQp::fail_startup(const Error& error) {
  Diagnosis why;
  try {
    why = failed_startup(error);
  } catch (const std::exception&) {
    why.by = EndedBy::kStack;
  }
  return fail_startup(std::move(why));
}

// False if there is no start-up any more that could fail. Otherwise the caller has the program told
// of it, on the executor: until then nothing that was posted is flushed.
bool SoftQp::fail_startup(Diagnosis why) {
  if (!advance(StartUp::kUnderWay, StartUp::kUntold)) return false;
  explain(std::move(why));
  try {
    init_.host->post([end = end_of_connection()] { log_end(end); });
  } catch (const std::exception&) {  // the log lacks a line
  }
  apply(LifeEvent::kLost);
  return true;
}

// On the executor, without a lock: the handler may post, abort, or destroy the queue pair, which
// only the caller owns then. False if it has: nothing of it completes any more.
//
// No completion overtakes this. A program that polls in another thread, or within the handler,
// would find one of a queue pair that it takes for one that connects still.
bool SoftQp::tell(const ConnectionEvent& event) {
  if (init_.on_event) init_.on_event(event);
  return weak_from_this().use_count() > 1;
}

// What was posted may complete from here on, and does if it can.
void SoftQp::end_silence() {
  phase_.store(StartUp::kTold);
  transmit();
}

void SoftQp::tell_failure(const ConnectionEvent& event) {
  if (tell(event)) end_silence();
}

// The system's first refusal to watch the socket, if there is one.
std::error_code SoftQp::attach_to_queues() {
  const std::error_code by_first = init_.send_cq->attach(*this);
  const std::error_code by_second = init_.recv_cq->attach(*this);
  return by_first ? by_first : by_second;
}

// What a peer is granted at the end it is granted before, too, unless the program wants it
// otherwise.
void SoftQp::watch_peer(const RdmaMode& mode) const {
  const auto usual = std::max(kDefaultUnacknowledged, init_.timeouts.linger);
  const Liveness& wanted = *mode.liveness;
  tcp_offload::PeerWatch watch;
  watch.unacknowledged = wanted.unacknowledged.value_or(usual);
  watch.keep_alive = std::chrono::ceil<std::chrono::seconds>(wanted.keep_alive);
  mode.stream->watch_peer(watch);
}

// What the stream has for the program lies there until the program knows of the connection. The
// RTR indication does not wait: the peer waits for it.
void SoftQp::enter_rdma_mode(RdmaMode mode) {
  if (!mode.liveness) mode.liveness = init_.liveness;
  watch_peer(mode);
  const bool waits = awaits_rtr(mode);
  const std::size_t hidden = mode.already_read;
  const ConnectionEvent established{ConnectionEvent::Kind::kEstablished, {}, mode.info};
  const LifeEvent entered =
      mode.role == Role::kResponder ? LifeEvent::kEnterAsResponder : LifeEvent::kEnterAsInitiator;
  process::catch_memory_faults();  // the program may have set a handler since it registered
  auto link = std::make_unique<Link>(*this, std::move(mode), init_.host->secret());
  {
    const std::lock_guard lock(state_mutex_);
    const auto step = connection::step(life(), entered);
    // Given up meanwhile: the stream goes with the link.
    if (step.next == life() || !advance(StartUp::kUnderWay, StartUp::kUntold)) return;
    owned_link_ = std::move(link);
    publish(*owned_link_);
    if (waits) deadline_.store(from_now(init_.timeouts.first_fpdu));
    life_.store(step.next);
  }
  transmit();
  std::error_code unwatched = attach_to_queues();
  if (!tell(established)) return;
  if (!unwatched) unwatched = init_.host->add(*this);
  if (unwatched) cannot_be_watched(unwatched);
  end_silence();
  // Octets that were read before the start-up was over show on no descriptor. A turn takes at least
  // as many as one read.
  for (std::size_t turns = 0; !receive() && turns < hidden / Scratch::kReadSize; ++turns) {
  }
}

}  // namespace iwarp::verbs::soft
