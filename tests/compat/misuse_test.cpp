#include "compat/pair.hpp"

// What ordinary programs do wrong with verbs, and the errno or the status that they get for it.
namespace iwarp::compat_test {
namespace {

class Misuse : public testing::Test {
 protected:
  Pair pair;
  End& end = pair.client;
};

TEST_F(Misuse, PostingBeforeThereIsAConnectionIsEinval) {
  End alone;
  sockaddr_in at = loopback(1);
  must(rdma_create_id(nullptr, &alone.id, nullptr, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_resolve_addr(alone.id, nullptr, plain(at), 2000), "rdma_resolve_addr");
  alone.make_qp();
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(alone.post_send(1, alone.sge(), &bad), EINVAL);
  EXPECT_NE(bad, nullptr) << "it names the request";
  EXPECT_EQ(alone.post_receive(1), 0);
}

TEST_F(Misuse, PostingAfterTheEndIsFlushed) {
  must(rdma_disconnect(end.id), "rdma_disconnect");
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(end.id->qp, &attributes, IBV_QP_STATE), 0);
  ASSERT_EQ(end.post_receive(3), 0);
  EXPECT_EQ(completion_of(end.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(end.post_send(4, end.sge()), 0)
      << "by the last one programs see that the queue is empty";
  EXPECT_EQ(completion_of(end.id->send_cq).status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Misuse, WrongLkeyEndsTheRequestAlone) {
  ibv_sge from = end.sge();
  from.lkey += 0x100;
  ASSERT_EQ(end.post_send(1, from), 0);
  const ibv_wc wc = completion_of(end.id->send_cq);
  EXPECT_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(wc.wr_id, 1U);
}

TEST_F(Misuse, RangeBeyondTheRegionIsAProtectionError) {
  ASSERT_EQ(end.post_send(1, end.sge(257)), 0);
  EXPECT_EQ(completion_of(end.id->send_cq).status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(Misuse, WrongRkeyIsARemoteAccessError) {
  ibv_sge to = end.sge();
  ibv_send_wr request{};
  request.sg_list = &to;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_READ;
  request.wr.rdma.remote_addr = 0x1000;
  request.wr.rdma.rkey = 0xDEAD00;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(end.id->qp, &request, &bad), 0);
  EXPECT_EQ(completion_of(end.id->send_cq).status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Misuse, UnknownOpcodeAndTooManySgesNameTheRequest) {
  std::array<ibv_sge, 3> sges{end.sge(), end.sge(), end.sge()};
  std::array<ibv_send_wr, 2> list{};
  list[0].sg_list = sges.data();
  list[0].num_sge = 1;
  list[0].opcode = IBV_WR_SEND;
  list[0].next = &list[1];
  list[1] = list[0];
  list[1].next = nullptr;
  list[1].num_sge = 3;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(end.id->qp, list.data(), &bad), EINVAL);
  EXPECT_EQ(bad, &list[1]);
  EXPECT_EQ(completion_of(end.id->send_cq).status, IBV_WC_SUCCESS) << "the one before it is posted";
  list[1].num_sge = 1;
  list[1].opcode = IBV_WR_TSO;
  EXPECT_EQ(ibv_post_send(end.id->qp, &list[1], &bad), EOPNOTSUPP);
  EXPECT_EQ(bad, &list[1]);
  list[1].opcode = IBV_WR_SEND;
  list[1].num_sge = -1;
  EXPECT_EQ(ibv_post_send(end.id->qp, &list[1], &bad), EINVAL);
  list[1].num_sge = 1;
  list[1].sg_list = nullptr;
  EXPECT_EQ(ibv_post_send(end.id->qp, &list[1], &bad), EINVAL);
  ibv_recv_wr receive{}, *bad_receive = nullptr;
  receive.num_sge = 1;
  EXPECT_EQ(ibv_post_recv(end.id->qp, &receive, &bad_receive), EINVAL);
  EXPECT_EQ(bad_receive, &receive);
}

// As many as a queue takes, in lists of one and of two elements, and one with three behind them.
template <typename Wr>
std::vector<Wr> long_list(std::array<ibv_sge, 3>& sges, std::size_t count) {
  std::vector<Wr> list(count + 1);
  for (std::size_t i = 0; i <= count; ++i) {
    list[i].wr_id = i;
    list[i].sg_list = sges.data();
    list[i].num_sge = i == count ? 3 : 1 + static_cast<int>(i % 2);
    list[i].next = i == count ? nullptr : &list[i + 1];
  }
  return list;
}

TEST(LongLists, ArePostedUpToTheRequestThatIsRefused) {
  constexpr std::size_t kCount = 100;  // more than are translated at a time
  Pair pair([](End&, ibv_qp_init_attr& attributes) {
    attributes.cap.max_send_wr = attributes.cap.max_recv_wr = kCount + 1;
  });
  std::array<ibv_sge, 3> to{pair.server.sge(1), pair.server.sge(1), pair.server.sge(1)};
  auto receives = long_list<ibv_recv_wr>(to, kCount);
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(ibv_post_recv(pair.server.id->qp, receives.data(), &bad_receive), EINVAL);
  EXPECT_EQ(bad_receive, &receives.back());

  std::array<ibv_sge, 3> from{pair.client.sge(1), pair.client.sge(0), pair.client.sge(0)};
  auto sends = long_list<ibv_send_wr>(from, kCount);
  for (ibv_send_wr& each : sends) each.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(pair.client.id->qp, sends.data(), &bad), EINVAL);
  EXPECT_EQ(bad, &sends.back());
  for (std::size_t i = 0; i < kCount; ++i) {
    const ibv_wc sent = completion_of(pair.client.id->send_cq);
    ASSERT_EQ(sent.status, IBV_WC_SUCCESS);
    ASSERT_EQ(sent.wr_id, i);
  }
  // The first receive is the one that the pair had posted before.
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).wr_id, 100U);
  for (std::size_t i = 0; i + 1 < kCount; ++i) {
    const ibv_wc received = completion_of(pair.server.id->recv_cq);
    ASSERT_EQ(received.status, IBV_WC_SUCCESS);
    ASSERT_EQ(received.wr_id, i);
  }
}

// The kernel finds handles in the file that they were made in.
TEST_F(Misuse, ObjectsOfAnotherOpeningOfTheDeviceAreNotFound) {
  ibv_context* const other = must(ibv_open_device(end.id->verbs->device), "ibv_open_device");
  ibv_pd* const pd = must(ibv_alloc_pd(other), "ibv_alloc_pd");
  ibv_cq* const cq = must(ibv_create_cq(other, 8, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_srq_init_attr small{};
  small.attr = {4, 1, 0};
  ibv_srq* const srq = must(ibv_create_srq(pd, &small), "ibv_create_srq");
  ibv_qp_init_attr attributes = small_qp();
  attributes.send_cq = attributes.recv_cq = cq;
  EXPECT_EQ(ibv_create_qp(end.id->pd, &attributes), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attributes.send_cq = attributes.recv_cq = end.id->send_cq;
  attributes.srq = srq;
  EXPECT_EQ(ibv_create_qp(end.id->pd, &attributes), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(other), 0);
}

TEST_F(Misuse, UnknownAttributesAndPortsChangeNothing) {
  ibv_qp* const qp = end.id->qp;
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  attributes.qp_state = IBV_QPS_ERR;
  EXPECT_EQ(ibv_modify_qp(qp, &attributes, IBV_QP_STATE | 1 << 30), EOPNOTSUPP);
  attributes.port_num = 2;
  EXPECT_EQ(ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
  ASSERT_EQ(ibv_query_qp(qp, &attributes, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attributes.qp_state, IBV_QPS_RTS);
  pair.expect_alive();
}

TEST_F(Misuse, WhatHasUsersIsBusy) {
  EXPECT_EQ(ibv_dealloc_pd(end.id->pd), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(end.id->send_cq), EBUSY);
  EXPECT_EQ(ibv_destroy_comp_channel(end.id->send_cq_channel), EBUSY);
  pair.expect_alive();
}

TEST_F(Misuse, SharedReceiveQueueWithUsersIsBusy) {
  ibv_srq_init_attr wanted{};
  wanted.attr = {4, 1, 0};
  ibv_srq* const srq = must(ibv_create_srq(end.id->pd, &wanted), "ibv_create_srq");
  ibv_cq* const cq = must(ibv_create_cq(end.id->verbs, 8, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_qp_init_attr attributes = small_qp();
  attributes.srq = srq;
  attributes.send_cq = attributes.recv_cq = cq;
  ibv_qp* const qp = must(ibv_create_qp(end.id->pd, &attributes), "ibv_create_qp");
  EXPECT_EQ(ibv_destroy_srq(srq), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST_F(Misuse, ContextOutlivesItsClosingWhileThereIsSomethingOfIt) {
  ibv_context* const context = must(ibv_open_device(end.id->verbs->device), "ibv_open_device");
  ibv_pd* const pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_cq* const cq = must(ibv_create_cq(context, 8, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_qp_init_attr attributes = small_qp();
  attributes.send_cq = attributes.recv_cq = cq;
  ibv_qp* const qp = must(ibv_create_qp(pd, &attributes), "ibv_create_qp");
  EXPECT_EQ(ibv_close_device(context), 0);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(Misuse, EventsOfAQueueMayBeAcknowledgedTooOften) {
  ibv_comp_channel* const channel =
      must(ibv_create_comp_channel(end.id->verbs), "ibv_create_comp_channel");
  ibv_cq* const cq = must(ibv_create_cq(end.id->verbs, 8, nullptr, channel, 0), "ibv_create_cq");
  ibv_ack_cq_events(cq, 3);
  EXPECT_EQ(ibv_destroy_cq(cq), 0) << "it does not wait for events that never were";
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(Misuse, EventOfTheConnectionManagerIsAcknowledgedOnce) {
  rdma_event_channel* const channel =
      must(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* id = nullptr;
  must(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in at = loopback(1);
  must(rdma_resolve_addr(id, nullptr, plain(at), 2000), "rdma_resolve_addr");
  rdma_cm_event* event = nullptr;
  must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
  EXPECT_EQ(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  EXPECT_EQ(rdma_ack_cm_event(event), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_destroy_id(id), 0);
  rdma_destroy_event_channel(channel);
}

TEST_F(Misuse, RegionWithABoundWindowStays) {
  ibv_mr* const region =
      must(ibv_reg_mr(end.id->pd, end.memory.data(), end.memory.size(),
                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND),
           "ibv_reg_mr");
  ibv_mw* const window = must(ibv_alloc_mw(end.id->pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
  ibv_mw_bind bind{};
  bind.bind_info = {region, reinterpret_cast<std::uintptr_t>(region->addr), 16,
                    IBV_ACCESS_REMOTE_WRITE};
  bind.send_flags = IBV_SEND_SIGNALED;
  ASSERT_EQ(ibv_bind_mw(end.id->qp, window, &bind), 0);
  EXPECT_EQ(completion_of(end.id->send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_dereg_mr(region), EBUSY);
  EXPECT_EQ(ibv_dealloc_mw(window), 0);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
}

TEST_F(Misuse, MemoryThatIsNotThereIsEfault) {
  EXPECT_EQ(ibv_reg_mr(end.id->pd, reinterpret_cast<void*>(0x10), 4096, 0), nullptr);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(ibv_reg_mr(end.id->pd, end.memory.data(), 16, 1 << 19), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Misuse, WhatTheDeviceHasNotIsRefused) {
  ibv_qp_init_attr attributes = small_qp();
  attributes.send_cq = attributes.recv_cq = end.id->send_cq;
  for (const ibv_qp_type type : {IBV_QPT_UD, IBV_QPT_UC, IBV_QPT_RAW_PACKET}) {
    attributes.qp_type = type;
    EXPECT_EQ(ibv_create_qp(end.id->pd, &attributes), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = 1U << 30U;
  EXPECT_EQ(ibv_create_qp(end.id->pd, &attributes), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_create_cq(end.id->verbs, 0, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_create_cq(end.id->verbs, 8, nullptr, nullptr, 99), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

// As rping and fio do: the queue pair goes by the other interface, and the id still names it.
TEST_F(Misuse, IdOutlivesAQueuePairThatWasDestroyedWithoutIt) {
  ASSERT_EQ(ibv_destroy_qp(end.id->qp), 0);
  EXPECT_EQ(rdma_disconnect(end.id), 0) << "its connection has ended";
  ibv_dereg_mr(std::exchange(end.mr, nullptr));
  EXPECT_EQ(rdma_destroy_id(std::exchange(end.id, nullptr)), 0);
}

TEST_F(Misuse, StatesAreTakenInTheirOrder) {
  ibv_qp_init_attr attributes = small_qp();
  attributes.send_cq = attributes.recv_cq = end.id->send_cq;
  ibv_qp* const qp = must(ibv_create_qp(end.id->pd, &attributes), "ibv_create_qp");
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), EINVAL);
  to.qp_state = IBV_QPS_INIT;
  EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
  to.qp_state = IBV_QPS_RTR;
  EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), EINVAL) << "nobody was named";
  to.cur_qp_state = IBV_QPS_RTS;
  EXPECT_EQ(ibv_modify_qp(qp, &to, IBV_QP_CUR_STATE), EINVAL);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

}  // namespace
}  // namespace iwarp::compat_test
