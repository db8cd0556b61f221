#pragma once

#include "lawful/polling.hpp"

namespace iwarp::lawful {

/// The first device, opened, with a protection domain.
struct Device {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;

  Device() {
    ibv_device** const list = must(ibv_get_device_list(nullptr), "ibv_get_device_list");
    context = list[0] == nullptr ? nullptr : ibv_open_device(list[0]);
    ibv_free_device_list(list);
    must(context, "ibv_open_device");
    pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
  }
};

/// A queue pair that its program connects, with a completion queue and memory of its own.
struct EndWithoutCm {
  Device& device;
  ibv_cq* cq;
  ibv_qp* qp;
  alignas(8) std::array<char, 64> memory{};
  ibv_mr* mr;

  EndWithoutCm(Device& of, unsigned access)
      : device(of),
        cq(must(ibv_create_cq(of.context, 32, nullptr, nullptr, 0), "ibv_create_cq")),
        qp(make_qp(of.pd, cq)),
        mr(must(ibv_reg_mr(of.pd, memory.data(), memory.size(), access), "ibv_reg_mr")) {}
  EndWithoutCm(const EndWithoutCm&) = delete;
  EndWithoutCm& operator=(const EndWithoutCm&) = delete;
  ~EndWithoutCm() {
    ibv_destroy_qp(qp);
    ibv_dereg_mr(mr);
    ibv_destroy_cq(cq);
  }
  static ibv_qp* make_qp(ibv_pd* pd, ibv_cq* cq) {
    ibv_qp_init_attr attributes = compat_test::small_qp();
    attributes.send_cq = attributes.recv_cq = cq;
    return must(ibv_create_qp(pd, &attributes), "ibv_create_qp");
  }

  /// From RESET to RTS, as InfiniBand has it. `allowed`: what the peer may do.
  void connect_to(const EndWithoutCm& peer, unsigned allowed) const {
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_INIT;
    to.port_num = 1;
    to.qp_access_flags = allowed;
    must(ibv_modify_qp(qp, &to,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
         "INIT");
    to.qp_state = IBV_QPS_RTR;
    to.path_mtu = IBV_MTU_1024;
    to.dest_qp_num = peer.qp->qp_num;
    to.max_dest_rd_atomic = to.max_rd_atomic = 4;
    to.min_rnr_timer = 12;
    to.ah_attr.is_global = 1;
    to.ah_attr.port_num = 1;
    must(ibv_query_gid(device.context, 1, 0, &to.ah_attr.grh.dgid), "ibv_query_gid");
    must(ibv_modify_qp(qp, &to,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
         "RTR");
    to.qp_state = IBV_QPS_RTS;
    to.timeout = 14;
    to.retry_cnt = to.rnr_retry = 7;
    must(ibv_modify_qp(qp, &to,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
         "RTS");
  }

  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uintptr_t>(memory.data());
  }
  /// A Write, a Read or an atomic of the first eight octets, named by `rkey` at `at`.
  int post(ibv_wr_opcode opcode, std::uint64_t at, std::uint32_t rkey) const {
    ibv_sge sge{address(), 8, mr->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      request.wr.atomic = {at, 1, 0, rkey};
    } else {
      request.wr.rdma = {at, rkey};
    }
    return ibv_post_send(qp, &request, &bad);
  }
};

constexpr unsigned kAllRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// Two of them, connected. What the peer may do with the memory, and through the queue pair.
struct PairWithoutCm {
  Device device;
  EndWithoutCm client, server;

  explicit PairWithoutCm(unsigned region = kAllRights, unsigned allowed = kAllRights)
      : client(device, region), server(device, region) {
    client.connect_to(server, allowed);
    server.connect_to(client, allowed);
  }
};

}  // namespace iwarp::lawful
