#include "soft/qp/start_up.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/process/memory_faults.hpp"
#include "iwarp/provider/failure.hpp"
#include "soft/qp/halves/scratch.hpp"
#include "soft/startup/adopt.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::LifeEvent;
using Phase = StartPhase::Phase;

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

Error aborted() { return {std::make_error_code(std::errc::connection_aborted), "aborted here"}; }

Error error_of_start(const std::exception& thrown) {
  return short_error_of(thrown, [] { return "the connection cannot be started"; });
}

}  // namespace

QpStartUp::~QpStartUp() {
  if (startup_) startup_->cancel();
}

bool QpStartUp::claim() {
  return parts_.life.course() == connection::Course::kIdle &&
         parts_.phase.advance(Phase::kNone, Phase::kUnderWay);
}

// Programs that have accepted post without waiting to be told that the connection is there: the
// verbs take an accepted queue pair for one that works. What they post goes out once the peer has
// sent its first FPDU (RFC 5044 §7.1.2), or is flushed.
bool QpStartUp::begin_startup() {
  if (parts_.origin.refuses() || !claim()) return false;
  accepted_.store(true);
  return true;
}

Outcome<void> QpStartUp::begin(const StartInitiator& start) {
  if (!claim()) {
    return iwarp::verbs::fail(std::errc::already_connected,
                              "queue pair " + std::to_string(parts_.init.number) + " is not idle");
  }
  const auto give_up = [this](Error error) -> Outcome<void> {
    // The program hears of one that was given up meanwhile.
    if (!parts_.phase.advance(Phase::kUnderWay, Phase::kNone)) return {};
    halves_.transmit();  // what was to be flushed meanwhile
    return failure(std::move(error));
  };
  try {
    auto started = start([weak = parts_.self, this](StartupResult result) {
      if (const auto self = weak.lock()) finish_startup(std::move(result));
    });
    if (!started) return give_up(started.error());
    {
      const Guard lock(mutex_);
      startup_ = std::move(*started);
    }
    if (!parts_.phase.connecting()) cancel();  // given up meanwhile, or over
    return {};
  } catch (const std::exception& thrown) {
    return give_up(error_of_start(thrown));
  }
}

// A start-up that cannot be finished for lack of memory has failed.
void QpStartUp::finish_startup(StartupResult result) {
  if (!parts_.phase.connecting()) return;  // given up meanwhile
  try {
    conclude(std::move(result));
  } catch (const std::exception& thrown) {
    Error error = error_of_start(thrown);
    if (fail(error)) return tell_failure({ConnectionEvent::Kind::kFailed, std::move(error), {}});
    halves_.end_after(thrown);
    end_silence();
  }
}

void QpStartUp::conclude(StartupResult result) {
  if (auto* mode = std::get_if<RdmaMode>(&result)) return enter_rdma_mode(std::move(*mode));
  if (auto* rejected = std::get_if<StartupRejected>(&result)) {
    const ConnectionEvent event = event_of(std::move(*rejected));
    const bool over = fail(abortive_end(EndedBy::kPeerReject, EndLayer::kMpa, event.error.message));
    if (over) tell_failure(event);
    return;
  }
  const Error& error = std::get<Error>(result);
  if (fail(failed_startup(error))) tell_failure({ConnectionEvent::Kind::kFailed, error, {}});
}

// The diagnosis may lack its sentence for lack of memory.
bool QpStartUp::fail(const Error& error) {
  Diagnosis why;
  try {
    why = failed_startup(error);
  } catch (const std::exception&) {
    why.by = EndedBy::kStack;
  }
  return fail(std::move(why));
}

// False if there is no start-up any more that could fail. Otherwise the caller has the program told
// of it, on the executor: until then nothing that was posted is flushed.
bool QpStartUp::fail(Diagnosis why) {
  if (!parts_.phase.advance(Phase::kUnderWay, Phase::kUntold)) return false;
  parts_.life.explain(std::move(why));
  try {
    parts_.init.services->executor.post([end = parts_.end_of_connection()] { log_end(end); });
  } catch (const std::exception&) {  // the log lacks a line
  }
  parts_.life.apply(LifeEvent::kLost);
  return true;
}

void QpStartUp::cancel() {
  std::unique_ptr<Startup> startup;
  {
    const Guard lock(mutex_);
    startup = std::move(startup_);
  }
  if (startup) startup->cancel();
}

// The caller may hold locks that the program's handler takes: it is called later.
bool QpStartUp::abort() {
  cancel();
  if (!fail(failed_startup(aborted()))) return false;
  parts_.init.services->executor.post([weak = parts_.self, this] {
    const auto self = weak.lock();
    if (self) tell_failure({ConnectionEvent::Kind::kFailed, aborted(), {}});
  });
  return true;
}

// On the executor, without a lock: the handler may post, abort, or destroy the queue pair, which
// only the caller owns then. False if it has: nothing of it completes any more.
//
// No completion overtakes this. A program that polls in another thread, or within the handler,
// would find one of a queue pair that it takes for one that connects still.
bool QpStartUp::tell(const ConnectionEvent& event) {
  if (parts_.init.on_event) parts_.init.on_event(event);
  return parts_.self.use_count() > 1;
}

// What was posted may complete from here on, and does if it can: by the next thread that comes.
void QpStartUp::end_silence() {
  parts_.wanted.transmit.store(true);
  parts_.phase.tell();
  halves_.transmit();
}

void QpStartUp::tell_failure(const ConnectionEvent& event) {
  if (tell(event)) end_silence();
}

// The system's first refusal to watch the socket, if there is one.
std::error_code QpStartUp::attach_to_queues() {
  const std::error_code by_first = parts_.init.send_cq->attached().attach(halves_);
  const std::error_code by_second = parts_.init.recv_cq->attached().attach(halves_);
  return by_first ? by_first : by_second;
}

// What a peer is granted at the end it is granted before, too, unless the program wants it
// otherwise.
void QpStartUp::watch_peer(const RdmaMode& mode) const {
  const auto usual = std::max(kDefaultUnacknowledged, parts_.init.patience.linger);
  const Liveness& wanted = *mode.liveness;
  tcp_offload::PeerWatch watch;
  watch.unacknowledged = wanted.unacknowledged.value_or(usual);
  watch.keep_alive = std::chrono::ceil<std::chrono::seconds>(wanted.keep_alive);
  mode.stream->watch_peer(watch);
}

// What the stream has for the program lies there until the program knows of the connection, and
// what it posted completes: an engine that has the socket would complete receives while Sends did
// not. The RTR indication does not wait: the peer waits for it.
void QpStartUp::enter_rdma_mode(RdmaMode mode) {
  if (!mode.liveness) mode.liveness = parts_.init.liveness;
  watch_peer(mode);
  const std::size_t hidden = mode.already_read;
  const ConnectionEvent established{ConnectionEvent::Kind::kEstablished, {}, mode.info};
  const LifeEvent entered =
      mode.role == Role::kResponder ? LifeEvent::kEnterAsResponder : LifeEvent::kEnterAsInitiator;
  process::catch_memory_faults();  // the program may have set a handler since it registered
  auto made = std::make_unique<Link>(parts_, std::move(mode), parts_.init.services->secret());
  Link& link = *made;
  const bool in_rdma_mode =
      parts_.life.enter(entered, link.stream, link.awaits_rtr(), link.idle_limit(), [&] {
        if (!parts_.phase.advance(Phase::kUnderWay, Phase::kUntold)) return false;
        const auto bad = parts_.sends.agree({link.mode.agreed.depths.ord, link.mode.info.rfc7306});
        if (bad) link.outbound().refuse_at(*bad);
        parts_.owned_link = std::move(made);
        parts_.link.store(&link);
        return true;
      });
  if (!in_rdma_mode) {  // given up meanwhile
    made.reset();       // with its stream, before the program hears of it
    if (fail(aborted())) tell_failure({ConnectionEvent::Kind::kFailed, aborted(), {}});
    return;
  }
  halves_.transmit();
  std::error_code unwatched = attach_to_queues();
  if (!tell(established)) return;
  end_silence();
  if (!unwatched) {
    unwatched =
        parts_.init.services->sockets.add(std::shared_ptr<Driven>(parts_.self.lock(), &halves_));
  }
  if (unwatched) halves_.cannot_be_watched(unwatched);
  // Octets that were read before the start-up was over show on no descriptor. A turn takes at least
  // as many as one read.
  for (std::size_t turns = 0; !halves_.receive() && turns < hidden / Scratch::kReadSize; ++turns) {
  }
}

}  // namespace iwarp::verbs::soft
