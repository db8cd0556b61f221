#include <cstdlib>

#include "lawful/polling.hpp"

// ibv_create_qp(3): max_send_wr and max_recv_wr are how many work requests may be outstanding, and
// one is until its completion has been polled. libcxgb4, irdma and mlx5 free its place then.
namespace iwarp::lawful {
namespace {

constexpr int kDepth = 16;

class Outstanding : public testing::Test {
 protected:
  int post_sends(int most) {
    return post_until_refused(
        most, [&](std::uint64_t id) { return pair.client.post_send(id, pair.client.sge(0)); },
        error);
  }

  Pair pair{sized(kDepth, kDepth)};
  int error = 0;
};

// QEMU posts until ENOMEM, and polls then (rdma.c); a queue of completions as deep as that of the
// requests does not overrun.
TEST_F(Outstanding, SendsAreRefusedUntilOneIsPolled) {
  ibv_send_wr write{};
  write.opcode = IBV_WR_RDMA_WRITE;
  const auto post = [&](std::uint64_t id) {
    ibv_send_wr* bad = nullptr;
    write.wr_id = id;
    return ibv_post_send(pair.client.id->qp, &write, &bad);
  };
  EXPECT_EQ(post_until_refused(10 * kDepth, post, error), kDepth);
  EXPECT_EQ(error, ENOMEM);
  std::uint64_t next = kDepth;
  for (std::uint64_t i = 0; i < 10 * kDepth; ++i) {
    const ibv_wc wc = completion_of(pair.client.id->send_cq);
    ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
    ASSERT_EQ(wc.wr_id, i);
    ASSERT_EQ(post(next++), 0);
    ASSERT_EQ(post(next), ENOMEM);
  }
}

TEST_F(Outstanding, ReceivesAreRefusedUntilOneIsPolled) {
  const auto post = [&](std::uint64_t id) { return pair.server.post_receive(id); };
  EXPECT_EQ(post_until_refused(10 * kDepth, post, error), kDepth - 1) << "one was posted before";
  EXPECT_EQ(error, ENOMEM);
  fill(pair.client, kDepth);
  EXPECT_EQ(post(1000), ENOMEM) << "filled, not polled";
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).wr_id, 100U);
  EXPECT_EQ(post(1000), 0);
  EXPECT_EQ(post(1001), ENOMEM);
}

// What is flushed is polled, too.
TEST_F(Outstanding, FlushedRequestsKeepTheirPlaces) {
  ibv_qp_attr error_state{};
  error_state.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(pair.client.id->qp, &error_state, IBV_QP_STATE), 0);
  EXPECT_EQ(post_sends(10 * kDepth), kDepth);
  EXPECT_EQ(error, ENOMEM);
  for (std::uint64_t i = 0; i < kDepth; ++i) {
    const ibv_wc wc = completion_of(pair.client.id->send_cq);
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.wr_id, i);
  }
  EXPECT_EQ(post_sends(1), 1);
}

// Of a shared queue likewise (mlx5_free_srq_wqe(), called by its poll).
TEST(OutstandingShared, ReceivesAreRefusedUntilOneIsPolled) {
  constexpr int kShared = 4;
  ibv_srq* srq = nullptr;
  {
    Pair pair([&](End& end, ibv_qp_init_attr& attributes) {
      if (srq != nullptr) return;  // the client comes first
      ibv_srq_init_attr wanted{};
      wanted.attr.max_wr = kShared;
      wanted.attr.max_sge = 1;
      attributes.srq = srq = must(ibv_create_srq(end.id->pd, &wanted), "ibv_create_srq");
      ASSERT_EQ(wanted.attr.max_wr, static_cast<std::uint32_t>(kShared));
    });
    const auto post = [&](std::uint64_t id) {
      ibv_sge to = pair.client.sge();
      ibv_recv_wr request{}, *bad = nullptr;
      request.wr_id = id;
      request.sg_list = &to;
      request.num_sge = 1;
      return ibv_post_srq_recv(srq, &request, &bad);
    };
    int error = 0;
    EXPECT_EQ(post_until_refused(10 * kShared, post, error), kShared);
    EXPECT_EQ(error, ENOMEM);
    fill(pair.server, 2);
    EXPECT_EQ(post(1000), ENOMEM) << "filled, not polled";
    EXPECT_EQ(completion_of(pair.client.id->recv_cq).wr_id, 0U);
    EXPECT_EQ(post(1000), 0);
    EXPECT_EQ(post(1001), ENOMEM);
  }
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

// ibv_modify_srq(3): a limit is armed for one event. ibv_query_srq() says 0 then, as adapters do.
TEST(OutstandingShared, LimitIsDisarmedByItsEvent) {
  ibv_srq* srq = nullptr;
  {
    Pair pair([&](End& end, ibv_qp_init_attr& attributes) {
      if (srq != nullptr) return;
      ibv_srq_init_attr wanted{};
      wanted.attr.max_wr = 4;
      wanted.attr.max_sge = 1;
      attributes.srq = srq = must(ibv_create_srq(end.id->pd, &wanted), "ibv_create_srq");
    });
    const auto limit = [srq] {
      ibv_srq_attr now{};
      must(ibv_query_srq(srq, &now), "ibv_query_srq");
      EXPECT_EQ(now.max_wr, 4U);
      return now.srq_limit;
    };
    EXPECT_EQ(limit(), 0U);
    ibv_sge to = pair.client.sge();
    ibv_recv_wr request{}, *bad = nullptr;
    request.sg_list = &to;
    request.num_sge = 1;
    for (int i = 0; i < 3; ++i) ASSERT_EQ(ibv_post_srq_recv(srq, &request, &bad), 0);
    ibv_srq_attr armed{};
    armed.srq_limit = 3;
    ASSERT_EQ(ibv_modify_srq(srq, &armed, IBV_SRQ_LIMIT), 0);
    EXPECT_EQ(limit(), 3U);
    fill(pair.server, 1);
    ibv_async_event event{};
    ASSERT_EQ(ibv_get_async_event(pair.client.id->verbs, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    EXPECT_EQ(event.element.srq, srq);
    ibv_ack_async_event(&event);
    EXPECT_EQ(limit(), 0U);
  }
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

// One without a completion has its place until it is done. As siw does; adapters wait for the next
// that has one.
TEST(OutstandingUnsignaled, SendsMakeRoomWhenTheyAreDone) {
  Pair pair([](End&, ibv_qp_init_attr& attributes) { attributes.sq_sig_all = 0; });
  ibv_send_wr write{};
  write.opcode = IBV_WR_RDMA_WRITE;
  ibv_send_wr* bad = nullptr;
  for (int i = 0; i < 20 * kDepth; ++i) {
    ASSERT_TRUE(eventually([&] {
      // libsiw says -ENOMEM.
      const int result = std::abs(ibv_post_send(pair.client.id->qp, &write, &bad));
      EXPECT_TRUE(result == 0 || result == ENOMEM) << result;
      return result != ENOMEM;
    })) << i;
  }
  write.send_flags = IBV_SEND_SIGNALED;
  ASSERT_TRUE(eventually([&] { return ibv_post_send(pair.client.id->qp, &write, &bad) == 0; }));
  EXPECT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace iwarp::lawful
