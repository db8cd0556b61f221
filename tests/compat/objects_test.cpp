#include <poll.h>

#include "compat/pair.hpp"

// Whose things are, and what they are after they have been changed.
namespace iwarp::compat_test {
namespace {

// An id with a device, and nothing else.
struct Bound {
  rdma_cm_id* id = nullptr;
  Bound() {
    sockaddr_in at = loopback();
    must(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_resolve_addr(id, nullptr, plain(at), 2000), "rdma_resolve_addr");
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { rdma_destroy_ep(id); }

  ibv_cq* make_cq() {
    return must(ibv_create_cq(id->verbs, 32, nullptr, nullptr, 0), "ibv_create_cq");
  }
};

TEST(Objects, QueuesThatAProgramBringsStayItsOwn) {
  Bound bound;
  ibv_cq* const cq = bound.make_cq();
  for (int i = 0; i < 2; ++i) {
    ibv_qp_init_attr attributes = small_qp();
    attributes.send_cq = cq;  // and none for receives
    ASSERT_EQ(rdma_create_qp(bound.id, nullptr, &attributes), 0);
    EXPECT_EQ(bound.id->qp->send_cq, cq);
    EXPECT_EQ(bound.id->send_cq, nullptr);
    EXPECT_NE(bound.id->recv_cq, nullptr);
    rdma_destroy_qp(bound.id);
    EXPECT_EQ(bound.id->recv_cq, nullptr);
  }
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST(Objects, QueuesOfAQueuePairThatCouldNotBeMadeAreGone) {
  Bound bound;
  ibv_qp_init_attr attributes = small_qp();
  attributes.cap.max_send_sge = 10'000;
  ASSERT_EQ(rdma_create_qp(bound.id, nullptr, &attributes), -1);
  EXPECT_EQ(bound.id->send_cq, nullptr);
  EXPECT_EQ(bound.id->recv_cq_channel, nullptr);
  attributes = small_qp();
  attributes.send_cq = attributes.recv_cq = bound.make_cq();
  ASSERT_EQ(rdma_create_qp(bound.id, nullptr, &attributes), 0);
  rdma_destroy_qp(bound.id);
  EXPECT_EQ(ibv_destroy_cq(attributes.send_cq), 0);
}

TEST(Objects, RegionKeepsItsIovaUnlessItMoves) {
  Pair pair;
  constexpr std::uint64_t kIova = 0x10000;
  End& end = pair.client;
  ibv_mr* const mr = must(ibv_reg_mr_iova2(end.id->pd, end.memory.data(), end.memory.size(), kIova,
                                           IBV_ACCESS_LOCAL_WRITE),
                          "ibv_reg_mr_iova2");
  ASSERT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0), 0);
  ASSERT_EQ(end.post_send(1, {kIova, 16, mr->lkey}), 0);
  EXPECT_EQ(completion_of(end.id->send_cq).status, IBV_WC_SUCCESS);
  ASSERT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, end.memory.data(),
                         end.memory.size(), 0),
            0);
  ASSERT_EQ(pair.server.post_receive(101), 0);
  ASSERT_EQ(end.post_send(2, {reinterpret_cast<std::uintptr_t>(end.memory.data()), 16, mr->lkey}),
            0);
  EXPECT_EQ(completion_of(end.id->send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST(Objects, QueuePairTellsWhatItsConnectionHasDecided) {
  Pair pair;
  ibv_qp_attr now{};
  ibv_qp_init_attr attributes{};
  ASSERT_EQ(ibv_query_qp(pair.client.id->qp, &now, IBV_QP_MAX_QP_RD_ATOMIC, &attributes), 0);
  EXPECT_EQ(now.qp_state, IBV_QPS_RTS);
  EXPECT_GT(now.max_rd_atomic, 0);
  EXPECT_GT(now.max_dest_rd_atomic, 0);
  EXPECT_EQ(now.path_mtu, IBV_MTU_4096);
}

TEST(Objects, StateThatCannotBeEnteredLeavesTheAttributesAlone) {
  Bound bound;
  ibv_qp_init_attr attributes = small_qp();
  ibv_cq* const cq = attributes.send_cq = attributes.recv_cq = bound.make_cq();
  ibv_qp* const qp = must(ibv_create_qp(bound.id->pd, &attributes), "ibv_create_qp");
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.timeout = 14;
  EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_TIMEOUT), EINVAL);
  ibv_qp_attr now{};
  ASSERT_EQ(ibv_query_qp(qp, &now, IBV_QP_TIMEOUT, &attributes), 0);
  EXPECT_EQ(now.timeout, 0);
  to.qp_state = IBV_QPS_INIT;
  ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
  to.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
  to.qp_state = IBV_QPS_RTR;
  EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), EINVAL) << "INIT comes first";
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST(Objects, AddressesInHintsNeedNoNames) {
  sockaddr_in at = loopback(4711);
  rdma_addrinfo hints{};
  hints.ai_flags = RAI_PASSIVE;
  hints.ai_src_addr = plain(at);
  hints.ai_src_len = sizeof at;
  rdma_addrinfo* info = nullptr;
  ASSERT_EQ(rdma_getaddrinfo(nullptr, nullptr, &hints, &info), 0);
  ASSERT_EQ(info->ai_src_len, sizeof at);
  EXPECT_EQ(std::memcmp(info->ai_src_addr, &at, sizeof at), 0);
  EXPECT_EQ(info->ai_flags, RAI_PASSIVE);
  EXPECT_EQ(info->ai_family, AF_INET);
  EXPECT_EQ(info->ai_dst_len, 0U);
  rdma_freeaddrinfo(info);
}

// Its requests go with a listener, and with what they are about.
TEST(Objects, RequestsMoveWithTheirListener) {
  rdma_event_channel* const before = must(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_event_channel* const after = must(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* listener = nullptr;
  sockaddr_in at = loopback();
  must(rdma_create_id(before, &listener, nullptr, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_bind_addr(listener, plain(at)), "rdma_bind_addr");
  must(rdma_listen(listener, 4), "rdma_listen");
  at.sin_port = rdma_get_src_port(listener);
  std::thread client([at]() mutable {
    End end;
    end.id = resolve(at);
    end.make_qp();
    EXPECT_EQ(rdma_connect(end.id, nullptr), -1);
    EXPECT_EQ(errno, ECONNREFUSED);
  });
  pollfd waits{before->fd, POLLIN, 0};
  ASSERT_EQ(::poll(&waits, 1, 20'000), 1);
  ASSERT_EQ(rdma_migrate_id(listener, after), 0);
  rdma_destroy_event_channel(before);
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(after, &event), 0);
  ASSERT_EQ(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
  rdma_cm_id* const id = event->id;
  EXPECT_EQ(id->channel, after);
  rdma_ack_cm_event(event);
  EXPECT_EQ(rdma_reject(id, nullptr, 0), 0);
  client.join();
  rdma_destroy_id(id);
  rdma_destroy_id(listener);
  rdma_destroy_event_channel(after);
}

}  // namespace
}  // namespace iwarp::compat_test
