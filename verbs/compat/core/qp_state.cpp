// What a program asks of a queue pair's state, and what it may set there.
#include <algorithm>

#include "core/context.hpp"
#include "core/errors.hpp"
#include "core/memory.hpp"
#include "core/qp.hpp"
#include "core/query.hpp"
#include "shared/stack.hpp"
#include "without_cm/rendezvous.hpp"

namespace iwarp::compat {
namespace {

// Attributes that have a place to stay; of the others iWARP has none, and they are not looked at.
void remember(ibv_qp_attr& to, const ibv_qp_attr& from, int mask) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(IBV_QP_ACCESS_FLAGS)) to.qp_access_flags = from.qp_access_flags;
  if (has(IBV_QP_PKEY_INDEX)) to.pkey_index = from.pkey_index;
  if (has(IBV_QP_PORT)) to.port_num = from.port_num;
  if (has(IBV_QP_AV)) to.ah_attr = from.ah_attr;
  if (has(IBV_QP_PATH_MTU)) to.path_mtu = from.path_mtu;
  if (has(IBV_QP_TIMEOUT)) to.timeout = from.timeout;
  if (has(IBV_QP_RETRY_CNT)) to.retry_cnt = from.retry_cnt;
  if (has(IBV_QP_RNR_RETRY)) to.rnr_retry = from.rnr_retry;
  if (has(IBV_QP_RQ_PSN)) to.rq_psn = from.rq_psn;
  if (has(IBV_QP_SQ_PSN)) to.sq_psn = from.sq_psn;
  if (has(IBV_QP_MIN_RNR_TIMER)) to.min_rnr_timer = from.min_rnr_timer;
  if (has(IBV_QP_DEST_QPN)) to.dest_qp_num = from.dest_qp_num;
  if (has(IBV_QP_MAX_QP_RD_ATOMIC)) to.max_rd_atomic = from.max_rd_atomic;
  if (has(IBV_QP_MAX_DEST_RD_ATOMIC)) to.max_dest_rd_atomic = from.max_dest_rd_atomic;
}

// The peer that the program has named. None if it has not.
std::optional<Greeting> ends_of(const Qp& qp) {
  const ibv_ah_attr& path = qp.attributes.ah_attr;
  const ibv_qp& shown = qp.shown.plain;
  Greeting ends;
  if (path.is_global == 0 ||
      ::ibv_query_gid(shown.context, 1, path.grh.sgid_index, &ends.from.gid) != 0) {
    return std::nullopt;
  }
  ends.from.qp_number = shown.qp_num;
  ends.to = {path.grh.dgid, qp.attributes.dest_qp_num};
  return ends;
}

// Goes on while the program does: waiting here would stop one whose peer is in the same thread, or
// waits for it elsewhere.
int start_to_meet(Qp& qp) {
  const auto ends = ends_of(qp);
  if (!ends) return EINVAL;
  constexpr std::uint8_t kMost = 128;
  verbs::ConnectOptions options;
  options.ird = std::min(qp.attributes.max_dest_rd_atomic, kMost);
  options.ord = kMost;  // said at RTS only; the peer's IRD limits it
  const unsigned interface = context_of(qp.shown.plain.context).device().interface_index;
  qp.silent = true;
  return Rendezvous::get().meet(qp.core, *ends, interface, std::move(options));
}

// How long a request of InfiniBand is sent again before it fails: 4.096 us, doubled `timeout`
// times, for each of the tries; 0 is for ever. At least as long as a program may need to come from
// the exchange of numbers to its own call, where no adapter answers for it meanwhile.
std::chrono::nanoseconds patience_of(const ibv_qp_attr& attributes) {
  constexpr std::chrono::nanoseconds kUnit{4096}, kLeast = std::chrono::seconds(10);
  constexpr unsigned kMostDoublings = 31, kMostRetries = 7;
  if (attributes.timeout == 0) return kLongestWait;
  const unsigned doublings = std::min<unsigned>(attributes.timeout, kMostDoublings);
  const unsigned tries = 1 + std::min<unsigned>(attributes.retry_cnt, kMostRetries);
  return std::max(kLeast, kUnit * (std::int64_t{1} << doublings) * tries);
}

// RESET, INIT, RTR, RTS, in this order, of a queue pair that the program connects. INIT and RTS may
// be entered anew, with other attributes.
bool may_advance(const Qp& qp, ibv_qp_state to, int mask) {
  const ibv_qp_state state = qp.shown.plain.state;
  if (to == state) return to == IBV_QPS_INIT || (to == IBV_QPS_RTS && qp.state() == to);
  if (to != state + 1) return false;
  constexpr int kPeer = IBV_QP_AV | IBV_QP_DEST_QPN;
  return to != IBV_QPS_RTR || (mask & kPeer) == kPeer;
}

int advance(Qp& qp, ibv_qp_state to) {
  if (to == IBV_QPS_RTR) {
    if (const int error = start_to_meet(qp)) return error;
  }
  qp.shown.plain.state = to;
  return 0;
}

// Whether a state may be entered from the present one. A queue pair that has been used does not
// come back to RESET: its connection, and so its stream of TCP, are over.
bool may_change(const Qp& qp, ibv_qp_state to, int mask) {
  const verbs::QpState now = qp.core->state();
  switch (to) {
    case IBV_QPS_ERR:
    case IBV_QPS_SQD: return true;
    case IBV_QPS_RESET: return now == verbs::QpState::kIdle && qp.shown.plain.state <= IBV_QPS_INIT;
    case IBV_QPS_INIT:
      if (now != verbs::QpState::kIdle) return false;
      return !qp.without_cm || may_advance(qp, to, mask);
    case IBV_QPS_RTR:
    case IBV_QPS_RTS:
      return qp.without_cm ? may_advance(qp, to, mask) : now == verbs::QpState::kRts;
    default: return false;
  }
}

int change_state(Qp& qp, ibv_qp_state to) {
  switch (to) {
    case IBV_QPS_ERR:
      Rendezvous::get().forget(*qp.core);
      qp.core->close();  // what has completed still arrives
      qp.shown.plain.state = IBV_QPS_ERR;
      return 0;
    case IBV_QPS_SQD: qp.core->disconnect(); return 0;
    case IBV_QPS_RTR:
    case IBV_QPS_RTS:
      if (!qp.without_cm) return 0;  // the connection has done it
      [[fallthrough]];
    default: return advance(qp, to);
  }
}

// iWARP knows no RESET: a fresh queue pair is idle, which its devices call INIT (siw and cxgb4 do).
ibv_qp_state answer_of(ibv_qp_state state) {
  return state == IBV_QPS_RESET && !shows_as_ib() ? IBV_QPS_INIT : state;
}

// What of a managed queue pair the connection has decided, and not the program.
void tell_connection(const Qp& qp, ibv_qp_attr& to) {
  const Depths depths = qp.events->depths();
  to.max_rd_atomic = octet_of(depths.ord);
  to.max_dest_rd_atomic = octet_of(depths.ird);
  ibv_port_attr port{};
  if (query_port(qp.shown.plain.context, 1, &port, sizeof port) == 0) to.path_mtu = port.active_mtu;
}

}  // namespace

// The stack knows better than what was set last, once there was a connection.
ibv_qp_state Qp::state() const {
  switch (core->state()) {
    case verbs::QpState::kIdle: return shown.plain.state;
    case verbs::QpState::kConnecting: return without_cm ? shown.plain.state : IBV_QPS_RTR;
    case verbs::QpState::kRts: return without_cm ? shown.plain.state : IBV_QPS_RTS;
    case verbs::QpState::kClosing: return IBV_QPS_SQD;
    case verbs::QpState::kTerminate:
    case verbs::QpState::kError: break;
  }
  return IBV_QPS_ERR;
}

void expect_peer(Qp& qp) {
  if (!qp.silent.load(std::memory_order_relaxed) || !qp.silent.exchange(false)) return;
  std::chrono::nanoseconds patience{};
  {
    const std::lock_guard lock(qp.mutex);
    patience = patience_of(qp.attributes);
  }
  Rendezvous::get().expect(qp.core, patience);
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

int ibv_modify_qp(ibv_qp* shown, ibv_qp_attr* attributes, int mask) {
  if (refused(shown->context)) return ENODEV;
  constexpr int kKnown = (IBV_QP_RATE_LIMIT << 1) - 1;
  if ((mask & ~kKnown) != 0) return EOPNOTSUPP;
  if ((mask & IBV_QP_PORT) != 0 && attributes->port_num != 1) return EINVAL;
  return guarded_errno([&] {
    Qp& qp = qp_of(shown);
    const std::lock_guard lock(qp.mutex);
    const bool tells_state = (mask & IBV_QP_CUR_STATE) != 0;
    if (tells_state && attributes->cur_qp_state != qp.state() &&
        attributes->cur_qp_state != answer_of(qp.state())) {
      return EINVAL;
    }
    const bool changes = (mask & IBV_QP_STATE) != 0;
    if (changes && !may_change(qp, attributes->qp_state, mask)) return EINVAL;
    if ((mask & IBV_QP_ACCESS_FLAGS) != 0) {
      const auto access = access_of(attributes->qp_access_flags);
      if (!access) return EINVAL;
      qp.allowed = access;
    }
    const ibv_qp_state next = changes ? attributes->qp_state : shown->state;
    if (qp.allowed && qp.without_cm && next >= IBV_QPS_RTR) qp.core->allow_peer(*qp.allowed);
    remember(qp.attributes, *attributes, mask);
    return changes ? change_state(qp, attributes->qp_state) : 0;
  });
}

int ibv_query_qp(ibv_qp* shown, ibv_qp_attr* attributes, int, ibv_qp_init_attr* init) {
  if (refused(shown->context)) return ENODEV;
  return guarded_errno([&] {
    Qp& qp = qp_of(shown);
    const std::lock_guard lock(qp.mutex);
    shown->state = qp.state();
    *attributes = qp.attributes;
    if (!qp.without_cm) tell_connection(qp, *attributes);
    attributes->qp_state = attributes->cur_qp_state = answer_of(shown->state);
    const auto capacity = qp.core->capacity();
    const ibv_qp_cap cap{capacity.max_send_wr, capacity.max_recv_wr, capacity.max_send_sge,
                         capacity.max_recv_sge, capacity.max_inline};
    attributes->cap = cap;
    *init = {};
    init->qp_context = shown->qp_context;
    init->send_cq = shown->send_cq;
    init->recv_cq = shown->recv_cq;
    init->srq = shown->srq;
    init->cap = cap;
    init->qp_type = shown->qp_type;
    init->sq_sig_all = qp.signals_all ? 1 : 0;
    return 0;
  });
}

// A placement's last word is stored last; the rest of it in any order.
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) { return 0; }

// There are no enhanced connection parameters on iWARP.
int ibv_query_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }
int ibv_set_ece(ibv_qp*, ibv_ece*) { return EOPNOTSUPP; }
