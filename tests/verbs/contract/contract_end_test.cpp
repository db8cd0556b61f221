// What every provider promises of the end of a connection.
#include <atomic>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class EndContract : public ConnectedContract {
 protected:
  void post_receives(End& end, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) post(end, RecvWr{i, {}});
  }
  // Each of so many receives of a side has completed once, as flushed.
  void expect_flushed(const Side& side, std::size_t count) {
    ASSERT_TRUE(until([&] { return side.received.size() >= count; }));
    settle();
    ASSERT_EQ(side.received.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(side.received[i].wr_id, i);
      EXPECT_EQ(side.received[i].status, Status::kFlushed);
    }
  }
  // Both have been told once that it is over, and nothing else.
  void expect_told_once() {
    ASSERT_TRUE(until_over(left, right));
    settle();
    for (const End* end : {&left, &right}) {
      EXPECT_EQ(end->told->count(Kind::kDisconnected), 1U);
      EXPECT_EQ(end->told->count(), 2U);
      EXPECT_EQ(end->qp->state(), QpState::kError);
    }
  }
  void expect_graceful(const End& end) {
    const Error error = end.told->first(Kind::kDisconnected).error;
    EXPECT_FALSE(error.code) << error.message;
  }
};
IWARP_IN_EVERY_WORLD(EndContract);

TEST_P(EndContract, ADisconnectIsToldOnceToBothWithoutAnError) {
  left.qp->disconnect();
  expect_told_once();
  expect_graceful(left);
  expect_graceful(right);
}

TEST_P(EndContract, TheAcceptingEndMayDisconnectToo) {
  right.qp->disconnect();
  expect_told_once();
  expect_graceful(left);
  expect_graceful(right);
}

TEST_P(EndContract, BothMayDisconnectAtATime) {
  left.qp->disconnect();
  right.qp->disconnect();
  expect_told_once();
  expect_graceful(left);
  expect_graceful(right);
}

TEST_P(EndContract, MoreThanOneDisconnectIsOne) {
  left.qp->disconnect();
  left.qp->disconnect();
  expect_told_once();
  left.qp->disconnect();
  left.qp->abort();
  settle();
  EXPECT_EQ(left.told->count(), 2U);
}

TEST_P(EndContract, WhatWasPostedBeforeADisconnectArrives) {
  constexpr std::size_t kMessages = 20;
  const Bytes content = pattern(20'000);
  const Sge gather = client.buffer(content).sge();
  std::vector<const Buffer*> sinks;
  for (std::size_t i = 0; i < kMessages; ++i) {
    sinks.push_back(&server.buffer(content.size()));
    const Sge scatter = sinks.back()->sge();
    post(right, RecvWr{i, {&scatter, 1}});
  }
  for (std::size_t i = 0; i < kMessages; ++i) post(left, send_of(i, {&gather, 1}));
  left.qp->disconnect();
  expect_told_once();
  expect_graceful(left);
  ASSERT_TRUE(until(
      [&] { return server.received.size() == kMessages && client.sent.size() == kMessages; }));
  EXPECT_EQ(statuses(server.received), std::vector<Status>(kMessages, Status::kSuccess));
  EXPECT_EQ(statuses(client.sent), std::vector<Status>(kMessages, Status::kSuccess));
  for (const Buffer* sink : sinks) EXPECT_TRUE(sink->content() == content);
}

TEST_P(EndContract, ADisconnectFlushesEachReceiveOnceInOrder) {
  post_receives(left, 5);
  post_receives(right, 7);
  left.qp->disconnect();
  expect_told_once();
  expect_flushed(client, 5);
  expect_flushed(server, 7);
}

TEST_P(EndContract, NothingIsSentBehindADisconnect) {
  post(right, RecvWr{0, {}});
  left.qp->disconnect();
  const std::errc refused = refusal(left.qp->post_send(send_of(1, {})));
  ASSERT_TRUE(until_over(left, right));
  expect_flushed(server, 1);
  if (refused == std::errc{}) {  // it was over already
    ASSERT_TRUE(until([&] { return !client.sent.empty(); }));
    EXPECT_EQ(client.sent[0].status, Status::kFlushed);
  } else {
    EXPECT_EQ(refused, std::errc::not_connected);
    EXPECT_TRUE(client.sent.empty());
  }
}

TEST_P(EndContract, WhatIsPostedBehindTheEndIsFlushed) {
  left.qp->disconnect();
  ASSERT_TRUE(until_over(left, right));
  post(left, send_of(8, {}));
  post(left, RecvWr{9, {}});
  ASSERT_TRUE(until([&] { return !client.sent.empty() && !client.received.empty(); }));
  settle();
  EXPECT_EQ(statuses(client.sent), std::vector<Status>{Status::kFlushed});
  EXPECT_EQ(statuses(client.received), std::vector<Status>{Status::kFlushed});
  EXPECT_EQ(client.sent[0].wr_id, 8U);
  EXPECT_EQ(client.received[0].wr_id, 9U);
}

TEST_P(EndContract, AnAbortIsToldToBothAndFlushes) {
  post_receives(left, 3);
  post_receives(right, 4);
  left.qp->abort();
  expect_told_once();
  expect_flushed(client, 3);
  expect_flushed(server, 4);
}

TEST_P(EndContract, AnAbortCompletesWhatWasPostedOnceEach) {
  constexpr std::size_t kReads = 30;
  const Buffer& source = server.buffer(std::size_t{1} << 20U);
  const Sge scatter = client.buffer(std::size_t{1} << 20U).sge();
  for (std::size_t i = 0; i < kReads; ++i) post(left, read_of(i, {&scatter, 1}, source));
  left.qp->abort();
  expect_told_once();
  ASSERT_TRUE(until([&] { return client.sent.size() >= kReads; }));
  settle();
  ASSERT_EQ(client.sent.size(), kReads);
  bool failed = false;
  for (std::size_t i = 0; i < kReads; ++i) {
    EXPECT_EQ(client.sent[i].wr_id, i);
    EXPECT_FALSE(failed && client.sent[i].status == Status::kSuccess) << "behind a failed one";
    failed = client.sent[i].status != Status::kSuccess;
  }
}

TEST_P(EndContract, AClosedEndFlushesAtOnceAndIsToldOnce) {
  post_receives(left, 3);
  left.qp->close();
  expect_flushed(client, 3);
  expect_told_once();
}

TEST_P(EndContract, ADestroyedQueuePairEndsThePeers) {
  post_receives(right, 2);
  left.qp.reset();
  ASSERT_TRUE(until([&] { return right.over(); }));
  expect_flushed(server, 2);
  EXPECT_EQ(right.told->count(Kind::kDisconnected), 1U);
}

TEST_P(EndContract, ADestroyedQueuePairFlushesWithoutCompletions) {
  post_receives(left, 2);
  left.qp.reset();
  ASSERT_TRUE(until([&] { return right.over(); }));
  settle();
  EXPECT_TRUE(client.received.empty());
}

TEST_P(EndContract, WhatHadCompletedArrivesThoughTheQueuePairIsDestroyed) {
  const Bytes content = pattern(100'000);
  const Sge gather = client.buffer(content).sge();
  Buffer& sink = server.buffer(content.size());
  const Sge scatter = sink.sge();
  post(right, RecvWr{1, {&scatter, 1}});
  ASSERT_EQ(run(left, send_of(2, {&gather, 1})).status, Status::kSuccess);
  left.qp.reset();
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  EXPECT_EQ(server.received[0].status, Status::kSuccess);
  EXPECT_TRUE(sink.content() == content);
}

TEST_P(EndContract, WhatWasNotPolledGoesWithTheQueuePairOrStays) {
  server.recv_cq->arm();
  post(right, RecvWr{1, {}});
  post(left, send_of(2, {}));
  ASSERT_TRUE(world->until([&] { return server.recv_cq->take_event(); }));  // it is there, unpolled
  right.qp.reset();
  settle();
  EXPECT_EQ(server.received.size(), can(Capability::kCompletionsOutliveQp) ? 1U : 0U);
}

TEST_P(EndContract, ADestroyedRegionEndsNothing) {
  Buffer& passing = server.buffer(64);
  passing.region.reset();
  expect_service(left, right);
}

// In which order the parts of a connection are destroyed while it is busy.
class OrderContract : public Contract {
 protected:
  void destroy_in(std::vector<int> order) {
    End left(client);
    End right(server);
    ASSERT_TRUE(connect(left, right));
    const Sge gather = client.buffer(100'000).sge();
    Buffer& target = server.buffer(100'000);
    for (std::uint64_t i = 0; i < 5; ++i) post(left, write_of(i, {&gather, 1}, target));
    const std::function<void()> steps[] = {
        [&] { right.qp.reset(); }, [&] { target.region.reset(); }, [&] { server.pd.reset(); },
        [&] {
          server.send_cq.reset();
          server.recv_cq.reset();
        }};
    for (const int step : order) steps[step]();
    EXPECT_TRUE(until([&] { return left.over(); }));
  }
};
IWARP_IN_EVERY_WORLD(OrderContract);

TEST_P(OrderContract, QueuePairFirst) { destroy_in({0, 1, 2, 3}); }
TEST_P(OrderContract, RegionFirst) { destroy_in({1, 0, 3, 2}); }
TEST_P(OrderContract, DomainFirst) { destroy_in({2, 1, 3, 0}); }
TEST_P(OrderContract, CompletionQueueFirst) { destroy_in({3, 2, 0, 1}); }
TEST_P(OrderContract, QueuePairLast) { destroy_in({3, 1, 2, 0}); }

class HandlerContract : public Contract {};
IWARP_IN_EVERY_WORLD(HandlerContract);

TEST_P(HandlerContract, AHandlerMayPostAndDisconnect) {
  End left(client);
  End right(server);
  post(right, RecvWr{1, {}});
  left.told->then = [&](const ConnectionEvent& event) {
    if (event.kind != Kind::kEstablished) return;
    EXPECT_TRUE(left.qp->post_send(send_of(2, {})));
    left.qp->disconnect();
  };
  ASSERT_TRUE(connect(left, right));
  ASSERT_TRUE(until_over(left, right));
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  EXPECT_EQ(statuses(server.received), std::vector<Status>{Status::kSuccess});
}

TEST_P(HandlerContract, AHandlerMayDestroyItsQueuePair) {
  End left(client);
  End right(server);
  ASSERT_TRUE(connect(left, right));
  std::atomic<bool> destroyed{false};
  right.told->then = [&](const ConnectionEvent&) {
    right.qp.reset();
    destroyed = true;
  };
  left.qp->disconnect();
  ASSERT_TRUE(until([&] { return destroyed && left.over(); }));
  EXPECT_EQ(right.told->count(), 2U);
}

}  // namespace
}  // namespace iwarp::verbs::contract
