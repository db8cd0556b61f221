#include "soft/qp_link.hpp"
#include "soft/startup/adopt.hpp"

namespace iwarp::verbs::soft {

using rdmap::StreamEvent;
using rdmap::StreamState;

bool SoftQp::claim_startup() {
  return stream_state() == StreamState::kIdle && !connecting_.exchange(true);
}

// Programs that have accepted post without waiting to be told that the connection is there: the
// verbs take an accepted queue pair for one that works. What they post goes out once the peer has
// sent its first FPDU (RFC 5044 §7.1.2), or is flushed.
bool SoftQp::begin_startup() {
  if (!claim_startup()) return false;
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
  if (init_.device == nullptr) return fail(std::errc::operation_not_supported, "no device");
  if (!claim_startup()) {
    return fail(std::errc::already_connected,
                "queue pair " + std::to_string(number()) + " is not idle");
  }
  auto started = start([weak = weak_from_this()](StartupResult result) {
    if (const auto self = weak.lock()) self->finish_startup(std::move(result));
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
  if (auto* rejected = std::get_if<StartupRejected>(&result)) {
    return reject_startup(std::move(*rejected));
  }
  fail_startup(std::get<Error>(result));
}

void SoftQp::reject_startup(StartupRejected rejected) {
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
  if (!connecting_.exchange(false)) return;
  explain(abortive_end(EndedBy::kPeerReject, EndLayer::kMpa, event.error.message));
  init_.host->post([end = end_of_connection()] { log_end(end); });
  notify(std::move(event));
  apply(StreamEvent::kLost);
  settle();
}

// False if there is no start-up any more that could fail.
bool SoftQp::fail_startup(const Error& error) {
  if (!connecting_.exchange(false)) return false;
  explain(failed_startup(error));
  init_.host->post([end = end_of_connection()] { log_end(end); });
  notify({ConnectionEvent::Kind::kFailed, error, {}});
  apply(StreamEvent::kLost);
  settle();
  return true;
}

void SoftQp::enter_rdma_mode(RdmaMode mode) {
  const bool responder = mode.role == Role::kResponder;
  const bool waits = awaits_rtr(mode);
  const std::size_t hidden = mode.already_read;
  ConnectionEvent established{ConnectionEvent::Kind::kEstablished, {}, mode.info};
  auto link = std::make_unique<Link>(*this, std::move(mode), init_.host->secret());
  hold_.store(responder);
  {
    const std::lock_guard lock(state_mutex_);
    const auto step = rdmap::transition(stream_state(), StreamEvent::kEnterRdmaMode);
    // Given up meanwhile: the stream goes with the link.
    if (!connecting_.exchange(false) || step.next == stream_state()) return;
    owned_link_ = std::move(link);
    publish(*owned_link_);
    stream_state_.store(step.next);
  }
  if (waits) {
    deadline_.store(from_now(init_.timeouts.first_fpdu));
  } else {
    notify(std::move(established));
  }
  init_.host->add(*this);
  init_.send_cq->attach(*this);
  init_.recv_cq->attach(*this);
  transmit();
  // Octets that were read before the start-up was over show on no descriptor. A turn takes at least
  // as many as one read.
  for (std::size_t turns = 0; !receive() && turns < hidden / Scratch::kReadSize; ++turns) {
  }
}

}  // namespace iwarp::verbs::soft
