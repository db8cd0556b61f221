#include <atomic>
#include <cstdlib>

#include "lawful/connection.hpp"

// rdma_disconnect(3), rdma_destroy_id(3), rdma_destroy_qp(3), rdma_destroy_event_channel(3): how
// connections and their ids end.
namespace iwarp::lawful {
namespace {

// The kernel's destroy_cm_id() of one that is established: iwcm_modify_qp_err(), an abrupt close.
TEST(DestroyedId, EndsItsConnection) {
  Connection both;
  both.establish();
  ASSERT_EQ(both.post_receive(both.client->get(), 7), 0);
  rdma_cm_id* const id = both.client->get();
  ibv_qp* const qp = id->qp;
  ibv_cq* const queue = id->recv_cq;
  ibv_cq* const sends = id->send_cq;
  ibv_comp_channel* const channels[] = {id->recv_cq_channel, id->send_cq_channel};
  ASSERT_EQ(rdma_destroy_id(both.client->release()), 0);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  const ibv_wc flushed = completion_of(queue);
  EXPECT_EQ(flushed.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(flushed.wr_id, 7U);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(queue), 0);
  EXPECT_EQ(ibv_destroy_cq(sends), 0);
  for (ibv_comp_channel* each : channels) EXPECT_EQ(ibv_destroy_comp_channel(each), 0);
}

// One that goes while it connects takes the attempt with it.
TEST(DestroyedId, EndsItsAttempt) {
  Connection both;
  both.request();
  rdma_cm_id* const id = both.client->get();
  ibv_qp* const qp = id->qp;
  ibv_cq* const queues[] = {id->recv_cq, id->send_cq};
  ibv_comp_channel* const channels[] = {id->recv_cq_channel, id->send_cq_channel};
  ASSERT_EQ(both.post_receive(id, 7), 0);
  ASSERT_EQ(rdma_destroy_id(both.client->release()), 0);
  EXPECT_EQ(completion_of(queues[0]).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_FALSE(both.client_channel.has_event(0));
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  for (ibv_cq* each : queues) EXPECT_EQ(ibv_destroy_cq(each), 0);
  for (ibv_comp_channel* each : channels) EXPECT_EQ(ibv_destroy_comp_channel(each), 0);
}

// siw_destroy_qp() goes through siw_qp_cm_drop() to IW_CM_EVENT_CLOSE. Programs free the id when
// they are told.
TEST(DestroyedQueuePair, OfAConnectedIdStillBringsDisconnected) {
  Connection both;
  both.establish();
  rdma_destroy_qp(both.client->get());
  EXPECT_EQ(both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED), both.client->get());
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(rdma_disconnect(both.client->get()), 0) << std::strerror(errno);
  EXPECT_EQ(rdma_disconnect(both.server->get()), 0) << std::strerror(errno);
  EXPECT_FALSE(both.client_channel.has_event(50)) << "it is told once";
  EXPECT_FALSE(both.server_channel.has_event(0));
}

TEST(DestroyedQueuePair, BehindADisconnectBringsDisconnectedOnce) {
  Connection both;
  both.establish();
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  rdma_destroy_qp(both.client->get());
  both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_FALSE(both.client_channel.has_event(50));
}

// As siw_qp_cm_drop() has it for one that awaits the MPA Reply: CONNECT_REPLY with -EINVAL, which
// cma.c tells as CONNECT_ERROR. siw itself does not come there, as its queue pair and its
// connection know each other only later: it lets the attempt run out.
TEST(DestroyedQueuePair, OfAnIdThatConnectsFailsTheAttempt) {
  Connection both;
  both.request();
  rdma_destroy_qp(both.client->get());
  both.client_channel.expect(RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL);
}

// iw_cm_disconnect() waits for the accept that is under way, and closes.
TEST(Disconnect, RightBehindAcceptEndsTheConnection) {
  for (int i = 0; i < 20; ++i) {
    Connection both;
    both.request();
    ASSERT_EQ(rdma_accept(both.server->get(), nullptr), 0);
    ASSERT_EQ(rdma_disconnect(both.server->get()), 0) << std::strerror(errno);
    both.client_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
    both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
    both.server_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
    ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
    both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  }
}

TEST(Disconnect, RightBehindConnectEndsTheConnection) {
  Connection both;
  both.request();
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0) << std::strerror(errno);
  ASSERT_EQ(rdma_accept(both.server->get(), nullptr), 0);
  both.client_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  both.server_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(rdma_disconnect(both.server->get()), 0);
  both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
}

// In CONN_RECV iw_cm_disconnect() has nothing to do. Without a connection there is no iWARP id.
TEST(Disconnect, OfWhatIsNotConnected) {
  Connection both;
  EXPECT_EQ(rdma_disconnect(both.client->get()), -1);
  EXPECT_EQ(errno, EINVAL);
  both.request();
  EXPECT_EQ(rdma_disconnect(both.server->get()), 0);
}

// Its calls wait for their events, but not for one that has been told.
TEST(Disconnect, OfAnIdWhoseCallsWaitComesBackEachTime) {
  Pair pair;
  EXPECT_EQ(rdma_disconnect(pair.client.id), 0);
  EXPECT_EQ(rdma_disconnect(pair.client.id), 0);
  EXPECT_EQ(rdma_disconnect(pair.server.id), 0);
  EXPECT_EQ(rdma_disconnect(pair.server.id), 0);
}

// rdma_disconnect(3): what is posted is flushed. Programs post one more request then, and wait for
// its completion.
TEST(Disconnect, WhatIsPostedBehindItIsFlushed) {
  Connection both;
  both.establish();
  ibv_qp* const qp = (*both.client)->qp;
  ibv_cq* const sends = (*both.client)->send_cq;
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  ASSERT_EQ(post_empty_send(qp, 1), 0);
  ASSERT_EQ(both.post_receive(both.client->get(), 2), 0);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(rdma_disconnect(both.server->get()), 0);
  both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  const ibv_wc behind = completion_of(sends);
  EXPECT_EQ(behind.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(behind.wr_id, 1U);
  EXPECT_EQ(completion_of((*both.client)->recv_cq).wr_id, 2U);
  ASSERT_EQ(post_empty_send(qp, 3), 0) << "and behind the event";
  EXPECT_EQ(completion_of(sends).wr_id, 3U);
}

// What was posted before it still leaves, and comes before what was posted behind.
TEST(Disconnect, WhatWasPostedBeforeItArrives) {
  Connection both;
  both.establish();
  ASSERT_EQ(both.post_receive(both.server->get(), 9), 0);
  ASSERT_EQ(post_empty_send((*both.client)->qp, 1), 0);
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  ASSERT_EQ(post_empty_send((*both.client)->qp, 2), 0);
  const ibv_wc received = completion_of((*both.server)->recv_cq);
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.wr_id, 9U);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  const ibv_wc first = completion_of((*both.client)->send_cq);
  EXPECT_EQ(first.wr_id, 1U);
  EXPECT_EQ(first.status, IBV_WC_SUCCESS);
  ASSERT_EQ(rdma_disconnect(both.server->get()), 0);
  const ibv_wc second = completion_of((*both.client)->send_cq);
  EXPECT_EQ(second.wr_id, 2U);
  EXPECT_EQ(second.status, IBV_WC_WR_FLUSH_ERR);
}

// They take their places like all others.
TEST(Disconnect, WhatIsPostedBehindItIsBounded) {
  Connection both;
  both.establish();
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  int error = 0;
  const auto post = [&](std::uint64_t id) { return post_empty_send((*both.client)->qp, id); };
  EXPECT_EQ(post_until_refused(1000, post, error), 16);
  EXPECT_EQ(error, ENOMEM);
}

// Against rdma_destroy_event_channel(3), and usual. librdmacm writes to a descriptor that has been
// closed then.
TEST(DestroyedChannel, ItsIdsCanBeDestroyed) {
  Connection both;
  both.establish();
  Id idle{both.client_channel.get()};
  Id unanswered{both.client_channel.get()};
  both.client_channel.destroy();
  both.server_channel.destroy();
  EXPECT_EQ(rdma_disconnect(both.client->get()), 0);
  EXPECT_EQ(rdma_disconnect(both.server->get()), 0);
}

TEST(DestroyedChannel, IsNothingToMakeAnIdAt) {
  Channel channel;
  rdma_event_channel* const gone = channel.get();
  channel.destroy();
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(rdma_create_id(gone, &id, nullptr, RDMA_PS_TCP), -1);
  EXPECT_EQ(errno, EBADF);
  rdma_cm_event* event = nullptr;
  EXPECT_EQ(rdma_get_cm_event(gone, &event), -1);
  EXPECT_EQ(errno, EBADF);
}

// cma.c: cma_iw_handler() never tells TIMEWAIT_EXIT, which cma_ib_handler() does. So do we where we
// are asked for it.
TEST(Events, TimewaitExitIsInfiniBands) {
  const bool asked = std::getenv("IWARP_TIMEWAIT_EXIT") != nullptr;
  const bool infiniband = std::getenv("IWARP_DEVICE_AS") != nullptr;
  Connection both;
  both.establish();
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(rdma_disconnect(both.server->get()), 0);
  both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  if (asked || infiniband) {
    both.server_channel.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    both.client_channel.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
  }
  EXPECT_FALSE(both.server_channel.has_event(100));
  EXPECT_FALSE(both.client_channel.has_event(0));
}

// ibv_destroy_qp() of id->qp, and rdma_destroy_qp() behind it.
TEST(DestroyedQueuePair, IsNotDestroyedAgainByItsId) {
  Connection both;
  both.establish();
  ASSERT_EQ(ibv_destroy_qp((*both.client)->qp), 0);
  rdma_destroy_qp(both.client->get());
  EXPECT_EQ((*both.client)->qp, nullptr);
  both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
}

// ibv_get_async_event(3): destroying waits until the object's events have been acknowledged.
TEST(AsyncEvents, DestroyingWaitsForTheirAcknowledgement) {
  Pair pair;
  ibv_context* const context = pair.server.id->verbs;
  ibv_sge small = pair.server.sge(1);
  ibv_recv_wr receive{}, *bad = nullptr;
  receive.sg_list = &small;
  receive.num_sge = 1;
  ASSERT_EQ(pair.client.post_send(0, pair.client.sge()), 0);  // into what the pair has posted
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_SUCCESS);
  ASSERT_EQ(ibv_post_recv(pair.server.id->qp, &receive, &bad), 0);
  ASSERT_EQ(pair.client.post_send(1, pair.client.sge()), 0);  // too long: a local length error
  ibv_async_event event{};
  for (;;) {
    ASSERT_EQ(ibv_get_async_event(context, &event), 0);
    if (event.element.qp == pair.server.id->qp) break;
    ibv_ack_async_event(&event);  // the client's end has one, too
  }
  std::atomic<bool> destroyed{false};
  std::thread destroyer([&] {
    rdma_destroy_qp(pair.server.id);
    destroyed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(destroyed.load());
  ibv_ack_async_event(&event);
  destroyer.join();
}

}  // namespace
}  // namespace iwarp::lawful
