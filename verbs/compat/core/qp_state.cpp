// What a program asks of a queue pair's state, and what it may set there.
#include "core/errors.hpp"
#include "core/qp.hpp"

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

int change_state(Qp& qp, ibv_qp_state to) {
  switch (to) {
    case IBV_QPS_INIT:
      if (qp.core->state() != verbs::QpState::kIdle) return EINVAL;
      qp.shown.plain.state = IBV_QPS_INIT;
      return 0;
    case IBV_QPS_ERR:
      qp.core->abort();
      qp.shown.plain.state = IBV_QPS_ERR;
      return 0;
    case IBV_QPS_SQD: qp.core->disconnect(); return 0;
    case IBV_QPS_RTR:
    case IBV_QPS_RTS:
      // The connection manager brings a queue pair there.
      return qp.core->state() == verbs::QpState::kRts ? 0 : EINVAL;
    default: return EINVAL;
  }
}

}  // namespace

// The stack knows better than what was set last, once there was a connection.
ibv_qp_state Qp::state() const {
  switch (core->state()) {
    case verbs::QpState::kIdle: return shown.plain.state;
    case verbs::QpState::kConnecting: return IBV_QPS_RTR;
    case verbs::QpState::kRts: return IBV_QPS_RTS;
    case verbs::QpState::kClosing: return IBV_QPS_SQD;
    case verbs::QpState::kTerminate:
    case verbs::QpState::kError: break;
  }
  return IBV_QPS_ERR;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

int ibv_modify_qp(ibv_qp* shown, ibv_qp_attr* attributes, int mask) {
  return guarded_errno([&] {
    Qp& qp = qp_of(shown);
    const std::lock_guard lock(qp.mutex);
    if ((mask & IBV_QP_CUR_STATE) != 0 && attributes->cur_qp_state != qp.state()) return EINVAL;
    if ((mask & IBV_QP_STATE) != 0) {
      if (const int error = change_state(qp, attributes->qp_state)) return error;
    }
    remember(qp.attributes, *attributes, mask);
    return 0;
  });
}

int ibv_query_qp(ibv_qp* shown, ibv_qp_attr* attributes, int, ibv_qp_init_attr* init) {
  return guarded_errno([&] {
    Qp& qp = qp_of(shown);
    const std::lock_guard lock(qp.mutex);
    shown->state = qp.state();
    *attributes = qp.attributes;
    attributes->qp_state = attributes->cur_qp_state = shown->state;
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
