#include <algorithm>

#include "connection_steps.hpp"
#include "iwarp/base/deadline.hpp"

namespace iwarp::rnic {

using verbs::ConnectionEvent;
using verbs::EndedBy;
using verbs::Outcome;

namespace {

// What ends the kernel's work on a start-up.
bool is_outcome(rdma_cm_event_type type) {
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
    case RDMA_CM_EVENT_ROUTE_RESOLVED: return false;
    default: return true;
  }
}

}  // namespace

Connection::~Connection() { drop_id(); }

void Connection::tell(const Event& event) {
  std::shared_ptr<const verbs::ConnectionHandler> handler;
  {
    const std::lock_guard lock(mutex_);
    handler = on_event_;
  }
  if (handler && *handler) verbs::call_program([&] { (*handler)(event); });
}

void Connection::explain(EndedBy by, bool graceful, std::string_view sentence) noexcept {
  const std::lock_guard lock(mutex_);
  const bool explained = diagnosis_.by != EndedBy::kNobody;
  if (explained && (graceful || !diagnosis_.graceful)) return;
  diagnosis_.by = by;
  diagnosis_.graceful = graceful;
  verbs::call_program([&] { diagnosis_.sentence = sentence; });  // there may be no memory for it
}

verbs::Diagnosis Connection::diagnosis() const {
  const std::lock_guard lock(mutex_);
  return diagnosis_;
}

void Connection::on_qp_event(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = what;
  }
  explain(EndedBy::kStack, false, what);
}

void Connection::on_adapter_lost(const std::string& what) {
  take_step([&] {
    explain(EndedBy::kStack, false, what);
    const auto lost = error_of(std::errc::no_such_device, what);
    fail_start({Event::Kind::kFailed, lost, {}});
    end_at_once(lost);
  });
}

// ---- What librdmacm says ----

void Connection::on_cm_event(CmEvent event) {
  take_step([&] { on_event(std::move(event)); });
}

void Connection::on_event(CmEvent event) {
  {
    const std::lock_guard lock(id_mutex_);
    if (event.id != id_.get()) return;  // of an attempt that was given up
    owed_ = owed_ && !is_outcome(event.type);
  }
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: return on_address();
    case RDMA_CM_EVENT_ROUTE_RESOLVED: return on_route();
    case RDMA_CM_EVENT_ADDR_ERROR:
      return fail_step("no way leads to " + to_.to_string(), -event.status);
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return fail_step("no route leads to " + to_.to_string(), -event.status);
    case RDMA_CM_EVENT_ESTABLISHED: return on_established(event);
    case RDMA_CM_EVENT_REJECTED: return on_refused(std::move(event));
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return fail_step(to_.to_string() + " cannot be connected to", -event.status);
    case RDMA_CM_EVENT_DISCONNECTED: return on_disconnected();
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return lose_adapter(*host_->adapter(), adapter().name + " has been removed");
    default: return;
  }
}

// What the adapter tells of the depths counts, where it tells; of inbound Reads there are as many
// as the peer has under way.
void Connection::fill_in(verbs::ConnectionInfo& info, const CmEvent& event) {
  with_id([&](rdma_cm_id* id) {
    info.local = local_of(id);
    info.remote = remote_of(id);
    return 0;
  });
  if (!passive_) {
    info.private_data = event.private_data;
    info.ird = options_.ird;
    info.ord = options_.ord;
  }
  if (event.ird != 0) info.ird = event.ird;
  if (event.ord != 0) info.ord = std::min<std::uint16_t>(event.ord, options_.ord);
}

void Connection::on_established(const CmEvent& event) {
  Event told{Event::Kind::kEstablished, {}, info_};
  fill_in(told.info, event);
  told.info.rfc7306 = false;
  if (!advance(State::kConnecting, State::kRts)) return;
  qp_->sends().open();
  if (state() != State::kRts) qp_->sends().close();  // the program has ended it meanwhile
  tell(told);
}

void Connection::on_refused(CmEvent event) {
  const auto error =
      error_of(std::errc::connection_refused, adapter().name + ": " + to_.to_string() +
                                                  " rejected the connection (status " +
                                                  std::to_string(event.status) + ")");
  // One that the peer's program has rejected is not tried again.
  if (event.private_data.empty() && tries_again(error)) return;
  Event told{Event::Kind::kRejected, error, {}};
  told.info.private_data = std::move(event.private_data);
  fail_start(std::move(told));
}

// What both sides say of themselves. Refers into the options.
rdma_conn_param Connection::parameters_with(std::uint16_t ird, std::uint16_t ord) const {
  rdma_conn_param parameters{};
  parameters.private_data = options_.private_data.data();
  parameters.private_data_len = static_cast<std::uint8_t>(options_.private_data.size());
  parameters.responder_resources = static_cast<std::uint8_t>(ird);
  parameters.initiator_depth = static_cast<std::uint8_t>(ord);
  parameters.srq = qp_->shares_receives() ? 1 : 0;
  parameters.qp_num = qp_->number();
  return parameters;
}

// ---- The side that accepts ----

Outcome<void> Connection::accept(CmId& id, const verbs::ConnectionInfo& asked,
                                 const verbs::ConnectOptions& options) {
  verbs::ConnectOptions with = options;
  verbs::ConnectionInfo info = asked;
  const auto wait =
      std::clamp<Clock::duration>(options.timeout, Clock::duration::zero(), kLongestWait);
  if (!advance(State::kIdle, State::kConnecting)) {
    return verbs::fail(std::errc::already_connected,
                       "queue pair " + std::to_string(qp_->number()) + " is not idle");
  }
  passive_ = true;
  options_ = std::move(with);
  info_ = std::move(info);
  info_.ird = std::min(std::max(options.ird, asked.peer_ord.value_or(options.ird)),
                       static_cast<std::uint16_t>(most_reads(adapter().limits.max_qp_rd_atom)));
  info_.ord = std::min(options.ord, asked.peer_ird.value_or(options.ord));
  to_ = asked.remote;
  try {
    later(wait,
          [](Connection& self) { self.fail_step("the peer completes no start-up", ETIMEDOUT); });
  } catch (...) {
    passive_ = false;
    state_ = State::kIdle;
    throw;
  }
  rdma_cm_id* const native = id.get();
  {
    const std::lock_guard lock(id_mutex_);
    host_->loop().watch(id, weak_from_this());  // in the place of the request: takes no memory
    begin_call();
    id_ = std::move(id);
  }
  rdma_conn_param parameters = parameters_with(info_.ird, info_.ord);
  on_call_returned(adapter().core.rdma_accept(native, &parameters) == 0 ? 0 : errno);
  return {};
}

}  // namespace iwarp::rnic
