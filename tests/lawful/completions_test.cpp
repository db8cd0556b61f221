#include "lawful/polling.hpp"

// ibv_poll_cq(3): what a poll gives, and to which thread.
namespace iwarp::lawful {
namespace {

constexpr std::uint32_t kMany = 40;

// Receives for `kMany` messages at the server, and `prepare` for both.
class ManyCompletions : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 1; i < kMany; ++i) ASSERT_EQ(pair.server.post_receive(i), 0);
  }
  // What a Read behind them brings is sent when the server has completed them all: they are
  // delivered in order, and a Read Request is not processed before it is delivered (RFC 5040
  // Section 5.5, 10 and 12). What is seen to be placed would say nothing of them (ibid., 3).
  void fill_them() {
    fill(pair.client, kMany);
    ibv_sge to = pair.client.sge(1);
    ibv_send_wr read{};
    ibv_send_wr* bad = nullptr;
    read.sg_list = &to;
    read.num_sge = 1;
    read.opcode = IBV_WR_RDMA_READ;
    read.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(pair.server.memory.data());
    read.wr.rdma.rkey = pair.server.mr->rkey;
    ASSERT_EQ(ibv_post_send(pair.client.id->qp, &read, &bad), 0);
    ASSERT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
  }

  Pair pair{sized(64, 64)};
};

// A loop that sleeps when it is given fewer than it asked for would never wake: no event comes for
// what was there when it armed. rdma-core: every provider polls up to num_entries (mlx5/cq.c,
// poll_cq()).
TEST_F(ManyCompletions, OnePollTakesAllThatAreThere) {
  fill_them();
  std::array<ibv_wc, 64> polled{};
  ASSERT_EQ(ibv_poll_cq(pair.server.id->recv_cq, 64, polled.data()), static_cast<int>(kMany));
  EXPECT_EQ(polled[0].wr_id, 100U);
  for (std::uint64_t i = 1; i < kMany; ++i) EXPECT_EQ(polled[i].wr_id, i);
  EXPECT_EQ(ibv_poll_cq(pair.server.id->recv_cq, 64, polled.data()), 0);
}

TEST_F(ManyCompletions, PollTakesNoMoreThanItWasAskedFor) {
  fill_them();
  std::array<ibv_wc, 64> polled{};
  EXPECT_EQ(ibv_poll_cq(pair.server.id->recv_cq, 0, polled.data()), 0);
  EXPECT_EQ(ibv_poll_cq(pair.server.id->recv_cq, 33, polled.data()), 33);
  EXPECT_EQ(polled[33].wr_id, 0U);
  EXPECT_EQ(ibv_poll_cq(pair.server.id->recv_cq, 64, polled.data()), static_cast<int>(kMany) - 33);
}

// The program may have freed what wr_id points to. rdma-core: mlx5_destroy_qp() and
// irdma_udestroy_qp() clean the queue; libcxgb4 drops what names no queue pair (cq.c).
TEST(Completions, OfADestroyedQueuePairAreGivenToNobody) {
  ibv_cq* shared = nullptr;
  {
    Pair pair([&](End& end, ibv_qp_init_attr& attributes) {
      if (shared == nullptr) {
        shared = must(ibv_create_cq(end.id->verbs, 64, nullptr, nullptr, 0), "ibv_create_cq");
      }
      attributes.send_cq = attributes.recv_cq = shared;
    });
    for (std::uint64_t i = 1; i < 8; ++i) ASSERT_EQ(pair.server.post_receive(i), 0);
    ASSERT_EQ(pair.client.post_send(50, pair.client.sge()), 0);
    ASSERT_EQ(rdma_disconnect(pair.client.id), 0);
    ibv_qp_attr now{};
    ibv_qp_init_attr made{};
    ASSERT_TRUE(eventually([&] {
      return ibv_query_qp(pair.server.id->qp, &now, IBV_QP_STATE, &made) == 0 &&
             now.qp_state == IBV_QPS_ERR;
    }));
    const std::uint32_t gone = pair.server.id->qp->qp_num;
    rdma_destroy_qp(pair.server.id);
    ibv_wc wc{};
    for (int got = 1; got != 0;) {
      got = ibv_poll_cq(shared, 1, &wc);
      ASSERT_GE(got, 0);
      if (got == 1) {
        EXPECT_NE(wc.qp_num, gone) << wc.wr_id;
      }
    }
  }
  EXPECT_EQ(ibv_destroy_cq(shared), 0);
}

}  // namespace
}  // namespace iwarp::lawful
