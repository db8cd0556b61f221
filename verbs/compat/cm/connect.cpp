// Connections: asked for, answered, ended.
#include <utility>

#include "cm/connection.hpp"
#include "core/errors.hpp"
#include "core/qp.hpp"
#include "shared/stack.hpp"

namespace iwarp::compat {
namespace {

using verbs::ConnectionEvent;

// The peer's program may be about to listen, as perftest's.
constexpr std::chrono::milliseconds kRetryRefused{1000};

// How the kernel's connection manager for iWARP tells failures apart. Those of the passive side it
// returns from rdma_accept(), as its Reply is sent there; a peer that goes while ours is on its way
// rejects nothing, and no address was unreachable.
std::unique_ptr<CmEvent> failure_of(const Id& id, const std::error_code& code) {
  const int error = errno_of(code);
  if (id.passive) return std::make_unique<CmEvent>(RDMA_CM_EVENT_CONNECT_ERROR, -error);
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET: return std::make_unique<CmEvent>(RDMA_CM_EVENT_REJECTED, -error);
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH: return std::make_unique<CmEvent>(RDMA_CM_EVENT_UNREACHABLE, -error);
    default: return std::make_unique<CmEvent>(RDMA_CM_EVENT_CONNECT_ERROR, -error);
  }
}

std::unique_ptr<CmEvent> event_of(const Id& id, const ConnectionEvent& from) {
  std::unique_ptr<CmEvent> event;
  switch (from.kind) {
    case ConnectionEvent::Kind::kEstablished:
      event = std::make_unique<CmEvent>(RDMA_CM_EVENT_ESTABLISHED);
      event->put_parameters(from.info);
      break;
    case ConnectionEvent::Kind::kRejected:
      event = std::make_unique<CmEvent>(RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
      event->put_parameters(from.info);
      break;
    case ConnectionEvent::Kind::kFailed: event = failure_of(id, from.error.code); break;
    case ConnectionEvent::Kind::kDisconnected:
      event = std::make_unique<CmEvent>(RDMA_CM_EVENT_DISCONNECTED);
      break;
  }
  return event;
}

// On one of the stack's threads, or on that which destroys the queue pair.
void tell(Id& id, const ConnectionEvent& event, verbs::provider::Qp* qp) {
  using Phase = Id::Phase;
  const bool established = event.kind == ConnectionEvent::Kind::kEstablished;
  const bool was_there = event.kind == ConnectionEvent::Kind::kDisconnected;
  id.reservation.hand_over();
  if (established) {
    store(id.shown.route.addr.src_storage, event.info.local);
    store(id.shown.route.addr.dst_storage, event.info.remote);
  }
  const Phase before = id.phase.exchange(established ? Phase::kConnected
                                         : was_there ? Phase::kOver
                                                     : Phase::kFailed);
  id.report(event_of(id, event));
  // Calls that wait for their event would take it for theirs.
  if (was_there && tells_timewait_exit() && !id.waits()) {
    id.report(std::make_unique<CmEvent>(RDMA_CM_EVENT_TIMEWAIT_EXIT));
  }
  if (established && before == Phase::kEndsAtOnce && qp != nullptr) qp->disconnect();
}

// The queue pair of the id, or the one that the program has made itself and named to connect it.
Qp* qp_of_id(const Id& id) {
  if (id.shown.qp != nullptr) return is_there(id.shown.qp) ? &qp_of(id.shown.qp) : nullptr;
  ibv_qp* const named = id.named_qp ? find_qp(*id.named_qp) : nullptr;
  return named == nullptr ? nullptr : &qp_of(named);
}

// The same, with the name taken from the parameters. From then on the id connects it, and not
// ibv_modify_qp().
Qp* qp_for(Id& id, const rdma_conn_param* parameters) {
  if (id.shown.qp == nullptr && parameters != nullptr) id.named_qp = parameters->qp_num;
  Qp* const qp = qp_of_id(id);
  if (qp != nullptr) {
    const std::lock_guard lock(qp->mutex);
    if (std::exchange(qp->without_cm, false)) qp->core->use_manager();
  }
  return qp;
}

// Of a connection that is about to be made. False if the queue pair has one: what follows that goes
// on, as if nothing had been asked for.
bool follow(Id& id, Qp& qp) {
  if (!qp.events->start()) return false;
  id.followed = qp.events;
  id.phase = Id::Phase::kStarted;
  qp.events->listen([link = id.link, weak = std::weak_ptr(qp.core)](const ConnectionEvent& event) {
    const auto core = weak.lock();
    link->with([&](Id& there) { tell(there, event, core.get()); });
  });
  return true;
}

// It could not be begun.
void do_not_follow(Id& id, Qp& qp) {
  id.phase = Id::Phase::kNone;
  qp.events->listen(nullptr);
  qp.events->do_not_start();
}

std::vector<std::byte> copy_of(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return bytes == nullptr ? std::vector<std::byte>() : std::vector<std::byte>(bytes, bytes + size);
}

constexpr std::uint8_t kMostDepth = 128;

// As librdmacm's ucma_valid_param(): no more than the device has, or as much as it has.
bool may_ask_for(const rdma_conn_param* parameters) {
  const auto has = [](std::uint8_t depth, std::uint8_t all) {
    return depth <= kMostDepth || depth == all;
  };
  return parameters == nullptr || (has(parameters->responder_resources, RDMA_MAX_RESP_RES) &&
                                   has(parameters->initiator_depth, RDMA_MAX_INIT_DEPTH));
}

// Depths that the interface cannot say are as deep as the device goes.
verbs::ConnectOptions options_of(const Id& id, const rdma_conn_param* parameters) {
  verbs::ConnectOptions options;
  options.private_data = id.endpoint_data;
  if (parameters == nullptr) return options;
  options.ird = std::min(parameters->responder_resources, kMostDepth);
  options.ord = std::min(parameters->initiator_depth, kMostDepth);
  if (parameters->private_data_len != 0) {
    options.private_data = copy_of(parameters->private_data, parameters->private_data_len);
  }
  return options;
}

int connect(Id& id, const rdma_conn_param* parameters) {
  const bool ready = id.step == Id::Step::kRouteResolved && id.phase.load() == Id::Phase::kNone;
  if (!ready || !may_ask_for(parameters)) return EINVAL;
  Qp* const qp = qp_for(id, parameters);
  const auto to = endpoint_of(&id.shown.route.addr.dst_addr);
  if (qp == nullptr || !to) return EINVAL;
  verbs::ConnectOptions options = options_of(id, parameters);
  options.retry_refused = kRetryRefused;
  if (const auto from = endpoint_of(&id.shown.route.addr.src_addr)) options.from = *from;
  options.traffic_class = id.traffic_class;
  if (!follow(id, *qp)) return EINVAL;
  id.reservation.make_room();
  const auto started = qp->core->connect(*to, options);
  if (started) return 0;
  id.reservation.take_room_back();
  do_not_follow(id, *qp);
  return errno_of(started.error().code);
}

int accept(Id& id, const rdma_conn_param* parameters) {
  if (id.request == nullptr || !may_ask_for(parameters)) return EINVAL;
  Qp* const qp = qp_for(id, parameters);
  if (qp == nullptr) return EINVAL;
  verbs::ConnectOptions options = options_of(id, parameters);
  if (parameters == nullptr) {  // as much as the peer asks for
    options.ird = id.request->info().peer_ord.value_or(options.ird);
    options.ord = id.request->info().peer_ird.value_or(options.ord);
  }
  const auto request = std::move(id.request);  // rejected, unless it is accepted
  if (!follow(id, *qp)) return EINVAL;
  id.passive = true;
  const auto started = request->accept(qp->core, options);
  if (started) return 0;
  do_not_follow(id, *qp);
  // As librdmacm: what was posted is flushed.
  if (started.error().code != std::errc::already_connected) qp->core->abort();
  return errno_of(started.error().code);
}

// As the kernel's iw_cm_disconnect(): a connection that is being made ends when it is there, and
// one that is over, or has a request of a peer only, has nothing to end. `awaits` says whether
// DISCONNECTED is still to be told.
int disconnect(Id& id, bool& awaits) {
  using Phase = Id::Phase;
  const bool told =
      id.shown.event != nullptr && id.shown.event->event == RDMA_CM_EVENT_DISCONNECTED;
  Phase now = Phase::kStarted;
  if (id.phase.compare_exchange_strong(now, Phase::kEndsAtOnce)) return 0;
  if (now == Phase::kNone) return id.request == nullptr ? EINVAL : 0;
  awaits = id.connected() && !told;
  if (!id.phase.compare_exchange_strong(now = Phase::kConnected, Phase::kEnding)) return 0;
  if (Qp* const qp = qp_of_id(id)) qp->core->disconnect();
  return 0;
}

int reject(Id& id, const void* data, std::uint8_t size) {
  if (id.request == nullptr) return EINVAL;
  const auto request = std::move(id.request);
  const auto done = request->reject(copy_of(data, size));
  return done ? 0 : errno_of(done.error().code);
}

template <typename Act>
int attempt(rdma_cm_id* id, Act act) {
  return guarded(
      [&] {
        const int error = id_of(id).origin.refuses() ? ENODEV : act();
        return error == 0 ? 0 : fail_minus(error);
      },
      fail_minus);
}

}  // namespace

// As the kernel's destroy_cm_id(). What has completed still arrives.
void leave_connection(Id& id) {
  const Id::Phase phase = id.phase.load();
  using Phase = Id::Phase;
  if (phase == Phase::kNone || phase == Phase::kFailed || phase >= Phase::kEnding) return;
  if (Qp* const qp = qp_of_id(id)) qp->core->close();
}

// On one of the stack's threads. The new id has the listener's channel; one that waits makes its
// own in rdma_get_request(). A request that goes unanswered is rejected, as one is that finds the
// backlog full.
void announce(Id& listener, std::unique_ptr<verbs::provider::IncomingConnection> request) {
  auto id = std::make_unique<Id>(listener, std::move(request));
  const verbs::ConnectionInfo& info = id->request->info();
  if (id->bind_to_device(info.local) != 0) return;
  store(id->shown.route.addr.dst_storage, info.remote);
  auto event = std::make_unique<CmEvent>(RDMA_CM_EVENT_CONNECT_REQUEST);
  event->put_parameters(info);
  event->shown.id = &id->shown;
  event->shown.listen_id = &listener.shown;
  event->place = BacklogPlace(listener.backlog);
  if (!event->place) return;
  listener.report(std::move(event));
  static_cast<void>(id.release());  // the event's taker has it
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_connect(rdma_cm_id* id, rdma_conn_param* parameters) {
  if (attempt(id, [&] { return connect(id_of(id), parameters); }) != 0) return -1;
  return id_of(id).complete();
}

int rdma_listen(rdma_cm_id* id, int backlog) {
  return attempt(id, [&] { return listen(id_of(id), backlog); });
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* parameters) {
  if (attempt(id, [&] { return accept(id_of(id), parameters); }) != 0) return -1;
  return id_of(id).complete();
}

int rdma_reject(rdma_cm_id* id, const void* data, std::uint8_t size) {
  return attempt(id, [&] { return reject(id_of(id), data, size); });
}

int rdma_disconnect(rdma_cm_id* id) {
  bool awaits = false;
  if (attempt(id, [&] { return disconnect(id_of(id), awaits); }) != 0) return -1;
  return awaits ? id_of(id).complete() : 0;
}

// The stack learns itself when a connection is there.
int rdma_notify(rdma_cm_id*, ibv_event_type event) {
  return event == IBV_EVENT_COMM_EST ? 0 : fail_minus(EINVAL);
}

// The last step of a program that has made its queue pair itself. MPA has established the
// connection already.
int rdma_establish(rdma_cm_id* id) {
  return id->qp == nullptr && id_of(id).connected() ? 0 : fail_minus(EINVAL);
}
