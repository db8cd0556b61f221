#include "verbs/sim_harness.hpp"

// How two queue pairs end their connection.
namespace iwarp::verbs::simtest {
namespace {

TEST(SimClose, EitherSideEndsGracefully) {
  for (const bool by_client : {true, false}) {
    SimPair pair;
    pair.run_for(1ms);
    post(pair.client, RecvWr{1, {}});
    post(pair.server, RecvWr{2, {}});
    (by_client ? pair.client : pair.server).qp->disconnect();
    ASSERT_TRUE(pair.run_until_closed(1s));
    pair.turn();
    expect_graceful(pair.client);
    expect_graceful(pair.server);
    EXPECT_EQ(statuses(pair.client.received), std::vector{Status::kFlushed});
    EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kFlushed});
    EXPECT_EQ(pair.client.host->serving() + pair.server.host->serving(), 0U);
  }
}

TEST(SimClose, BothSidesAtOnceEndGracefully) {
  SimPair pair;
  pair.run_for(1ms);
  pair.client.qp->disconnect();
  pair.server.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  expect_graceful(pair.client);
  expect_graceful(pair.server);
}

TEST(SimClose, NothingIsPostedAfterADisconnect) {  // RFC 5041 §6.2.1
  SimPair pair;
  Region& source = pair.client.region(500'000, Access::kNone);
  Region& sink = pair.server.region(500'000, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = source.sge();
  pair.run_for(1ms);
  post(pair.client, write_of(1, {&from, 1}, sink.key(), sink.to(0)));
  pair.client.qp->disconnect();
  ASSERT_EQ(pair.client.qp->state(), QpState::kClosing) << "the first is still under way";
  const SendWr late = send_of(2, {});
  EXPECT_EQ(pair.client.qp->post_send({&late, 1}).error().code, std::errc::not_connected);
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(ids(pair.client.sent), std::vector<std::uint64_t>{1});
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kSuccess});
}

// Programs find the end of their queues so: the last flushed request is the one posted last.
TEST(SimClose, WhatIsPostedBehindACloseIsFlushedAtOnce) {
  SimPair pair;
  pair.run_for(1ms);
  pair.client.qp->close();
  ASSERT_NE(pair.client.qp->state(), QpState::kError) << "the peer has not closed yet";
  post(pair.client, send_of(1, {}));
  post(pair.client, RecvWr{2, {}});
  pair.client.collect();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kFlushed});
  EXPECT_EQ(statuses(pair.client.received), std::vector{Status::kFlushed});
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  expect_graceful(pair.client);
  expect_graceful(pair.server);
  EXPECT_EQ(pair.server.received.size(), 0U) << "nothing of it has left";
}

TEST(SimClose, WhatIsPostedWhenADisconnectIsOverIsFlushed) {
  SimPair pair;
  pair.run_for(1ms);
  pair.client.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed(1s));
  post(pair.client, send_of(1, {}));
  post(pair.client, RecvWr{2, {}});
  pair.client.collect();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kFlushed});
  EXPECT_EQ(statuses(pair.client.received), std::vector{Status::kFlushed});
}

TEST(SimClose, WhatWasPostedBeforeADisconnectIsDone) {
  SimPair pair;
  Region& source = pair.client.region(50'000, Access::kNone);
  Region& sink = pair.server.region(50'000, Access::kLocalWrite);
  const Sge from = source.sge();
  const Sge to = sink.sge();
  post(pair.server, RecvWr{7, {&to, 1}});
  post(pair.client, send_of(1, {&from, 1}));
  pair.client.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kSuccess});
  EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kSuccess});
  expect_graceful(pair.client);
}

TEST(SimClose, ReadsPostedBeforeADisconnectAreDone) {
  SimPair pair;
  Region& source = pair.server.region(50'000, Access::kRemoteRead);
  Region& sink = pair.client.region(50'000, Access::kLocalWrite);
  source.memory.fill(std::byte{0x3C});
  const Sge to = sink.sge();
  post(pair.client, read_of(1, {&to, 1}, source.key(), source.to(0)));
  pair.client.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kSuccess});
  EXPECT_EQ(sink.memory.bytes().back(), std::byte{0x3C});
}

TEST(SimClose, ReceivesPostedAfterADisconnectTakeWhatThePeerStillSends) {
  constexpr std::uint64_t kMessages = 20;
  PairOptions options;
  options.net.send_buffer = options.net.receive_buffer = 2000;
  SimPair pair(options);
  Region& source = pair.client.region(3000, Access::kNone);
  Region& inbox = pair.server.region(3000, Access::kLocalWrite);
  const Sge from = source.sge();
  const Sge to = inbox.sge();
  for (std::uint64_t i = 0; i < kMessages; ++i) post(pair.client, send_of(i, {&from, 1}));
  for (std::uint64_t i = 0; i < 2; ++i) post(pair.server, RecvWr{i, {&to, 1}});
  std::size_t used = 0;
  const auto post_again = [&] {
    for (; used < pair.server.received.size() && used + 2 < kMessages; ++used) {
      post(pair.server, RecvWr{used + 2, {&to, 1}});
    }
    return pair.client.closed() && pair.server.closed();
  };
  pair.run_until([&] { return post_again() || used > 0; }, 1s);
  pair.server.qp->disconnect();
  ASSERT_TRUE(pair.run_until(post_again, 10s));
  pair.turn();
  EXPECT_EQ(statuses(pair.server.received), std::vector(kMessages, Status::kSuccess));
  EXPECT_EQ(statuses(pair.client.sent), std::vector(kMessages, Status::kSuccess));
  expect_graceful(pair.server);
}

TEST(SimClose, AbortResetsAndFlushesBothSides) {
  SimPair pair;
  pair.run_for(1ms);
  post(pair.client, RecvWr{1, {}});
  post(pair.server, RecvWr{2, {}});
  pair.client.qp->abort();
  EXPECT_TRUE(pair.client.closed());
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  expect_broken(pair.client, "aborted");
  expect_broken(pair.server, "reset");
  EXPECT_EQ(statuses(pair.client.received), std::vector{Status::kFlushed});
  EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kFlushed});
}

TEST(SimClose, DestructionIsSeenAsAGracefulEnd) {
  SimPair pair;
  pair.run_for(1ms);
  pair.client.qp.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.server.closed(); }, 1s));
  pair.turn();
  expect_graceful(pair.server);
  EXPECT_TRUE(pair.run_until([&] { return pair.client.host->seeing_off() == 0; }, 10s));
}

TEST(SimClose, DestructionMidwayLeavesNoHalfFpduBehind) {
  PairOptions options;
  options.net.send_buffer = options.net.receive_buffer = 1000;
  SimPair pair(options);
  Region& source = pair.client.region(50'000, Access::kNone);
  Region& target = pair.server.region(50'000, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = source.sge();
  post(pair.client, write_of(1, {&from, 1}, target.key(), target.to(0)));
  pair.network.net.step();
  pair.client.qp.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.server.closed(); }, 1s));
  pair.turn();
  expect_graceful(pair.server);
  EXPECT_FALSE(pair.server.qp->terminate_sent());
}

}  // namespace
}  // namespace iwarp::verbs::simtest
