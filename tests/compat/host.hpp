#pragma once

#include "compat/pair.hpp"

/// Queue pairs that a program connects itself, by ibv_modify_qp().
namespace iwarp::compat_test {

/// A device, and what both ends have on it.
struct Host {
  rdma_cm_id* id = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;

  Host() {
    sockaddr_in at = loopback();
    must(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_resolve_addr(id, nullptr, plain(at), 2000), "rdma_resolve_addr");
    pd = must(ibv_alloc_pd(id->verbs), "ibv_alloc_pd");
    cq = must(ibv_create_cq(id->verbs, 64, nullptr, nullptr, 0), "ibv_create_cq");
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    rdma_destroy_id(id);
  }
  [[nodiscard]] ibv_qp* make_qp() const {
    ibv_qp_init_attr attributes = small_qp();
    attributes.send_cq = attributes.recv_cq = cq;
    return must(ibv_create_qp(pd, &attributes), "ibv_create_qp");
  }
};

/// To a queue pair that this process has, or to a number that another has or will have.
inline void connect_without_cm(ibv_qp* qp, std::uint32_t to) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  must(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), "INIT");
  attributes.qp_state = IBV_QPS_RTR;
  attributes.dest_qp_num = to;
  attributes.ah_attr.is_global = 1;
  must(ibv_query_gid(qp->context, 1, 0, &attributes.ah_attr.grh.dgid), "ibv_query_gid");
  attributes.max_dest_rd_atomic = 4;
  constexpr int kToRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_MAX_DEST_RD_ATOMIC;
  must(ibv_modify_qp(qp, &attributes, kToRtr), "RTR");
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = 8;  // 1 ms
  attributes.retry_cnt = 3;
  constexpr int kToRts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT;
  must(ibv_modify_qp(qp, &attributes, kToRts), "RTS");
}
inline void connect_without_cm(ibv_qp* qp, const ibv_qp* to) { connect_without_cm(qp, to->qp_num); }

}  // namespace iwarp::compat_test
