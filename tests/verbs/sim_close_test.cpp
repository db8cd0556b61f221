#include "verbs/cut_stream.hpp"
#include "verbs/raw_peer.hpp"

// How connections end, and how long that may take.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;

void expect_graceful(const SimEnd& end) {
  ASSERT_EQ(end.count(ConnectionEvent::Kind::kDisconnected), 1U);
  EXPECT_FALSE(end.end_reason().code) << end.end_reason().message;
}

void expect_broken(const SimEnd& end, const std::string& words) {
  ASSERT_EQ(end.count(ConnectionEvent::Kind::kDisconnected), 1U);
  EXPECT_TRUE(end.end_reason().code);
  EXPECT_NE(end.end_reason().message.find(words), std::string::npos) << end.end_reason().message;
}

// ---- Two queue pairs ----

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

// ---- A peer that misbehaves ----

TEST(SimClose, FinAtAMessageBoundaryIsGraceful) {
  RawPair pair;
  post(pair.end, RecvWr{1, {}});
  pair.peer.finish();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  expect_graceful(pair.end);
  EXPECT_TRUE(pair.peer.ended && !pair.peer.lost);
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
}

TEST(SimClose, RequestsPostedWhenThePeerEndsAreStillSent) {
  RawPair pair;
  Region& source = pair.end.region(100'000, Access::kNone);
  const Sge from = source.sge();
  post(pair.end, send_of(1, {&from, 1}));
  pair.peer.finish();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kSuccess});
  std::size_t octets = 0;
  for (const Ulpdu& ulpdu : pair.peer.came) octets += ulpdu.size() - ddp::kUntaggedHeaderSize;
  EXPECT_EQ(octets, 100'000U);
}

TEST(SimClose, ReadsThatNoResponseCanCompleteAreFlushedWhenThePeerEnds) {
  RawPair pair;
  Region& sink = pair.end.region(64, Access::kLocalWrite);
  const Sge to = sink.sge();
  post(pair.end, read_of(1, {&to, 1}, Stag{1}, 0));
  post(pair.end, send_of(2, {}));
  pair.peer.finish();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), (std::vector{Status::kFlushed, Status::kFlushed}));
}

TEST(SimClose, FinInsideAnFpduIsAbortive) {
  RawPair pair;
  post(pair.end, RecvWr{1, {}});
  const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(50)));
  pair.peer.send_octets(ConstBytes(octets).first(30));
  pair.peer.finish();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  expect_broken(pair.end, "inside an FPDU");
  EXPECT_TRUE(pair.peer.lost);
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
  EXPECT_EQ(pair.end.host->tails, 0);
}

// The rest may be behind a gap in the network, or its sender be stopped: RFC 5044 leaves such
// time-outs to the ULP.
TEST(SimClose, HalfAnFpduIsWaitedForAsLongAsThereIsRoom) {
  RawPair pair;
  post(pair.end, RecvWr{1, {}});
  const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1)));
  pair.peer.send_octets(ConstBytes(octets).first(10));
  pair.run_for(1h);
  EXPECT_FALSE(pair.end.closed());
  pair.peer.send_octets(ConstBytes(octets).subspan(10));
  ASSERT_TRUE(pair.run_until([&] { return !pair.end.received.empty(); }, 1s));
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kSuccess});
}

TEST(SimClose, OctetsThatTrickleInDoNotProlongAnFpdusTimeWhileRoomIsShort) {
  RawPair pair;
  pair.end.host->most_tails = 1;
  const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(50)));
  for (std::size_t i = 0; i < 6; ++i) {
    pair.peer.send_octets(ConstBytes(octets).subspan(i, 1));
    pair.run_for(100ms);
  }
  EXPECT_TRUE(pair.end.closed());
}

TEST(SimClose, PeerThatStopsReadingHoldsACloseUpForABoundedTime) {
  PairOptions options = RawPair::without_rtr();
  options.client.timeouts.linger = 10s;
  options.net.send_buffer = options.net.receive_buffer = 4096;
  RawPair pair(options);
  pair.peer.reads = false;
  Region& source = pair.end.region(50'000, Access::kNone);
  const Sge from = source.sge();
  post(pair.end, send_of(1, {&from, 1}));
  post(pair.end, send_of(2, {}));
  pair.end.qp->disconnect();
  pair.run_for(9s);
  EXPECT_EQ(pair.end.qp->state(), QpState::kClosing);
  pair.run_for(2s);
  EXPECT_TRUE(pair.end.closed());
  EXPECT_EQ(statuses(pair.end.sent), (std::vector{Status::kFlushed, Status::kFlushed}));
  expect_broken(pair.end, "could not be sent");
}

// Each look at the time-outs finds octets of the peer's, which are dropped: they are no sign of
// life.
TEST(SimClose, PeerThatSendsWithoutPauseAndReadsNothingDoesNotHoldUpACloseEither) {
  PairOptions options = RawPair::without_rtr();
  options.client.timeouts.linger = 10s;
  options.net.send_buffer = options.net.receive_buffer = 4096;
  RawPair pair(options);
  pair.peer.reads = false;
  pair.end.host->deaf = true;
  Region& source = pair.end.region(50'000, Access::kNone);
  const Sge from = source.sge();
  post(pair.end, send_of(1, {&from, 1}));
  pair.end.qp->close();
  for (int looks = 0; looks < 80 && !pair.end.closed(); ++looks) {
    pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1), pattern(500)));
    pair.network.run_until([&] { pair.peer.turn(); }, [] { return false; }, 250ms);
    pair.end.turn();
  }
  ASSERT_TRUE(pair.end.closed()) << "nothing has moved for 10 s";
  pair.turn();
  expect_broken(pair.end, "nothing moved for 10 s");
}

TEST(SimClose, PeerThatNeverEndsItsHalfIsLeftInTime) {
  PairOptions options = RawPair::without_rtr();
  options.client.timeouts.linger = 10s;
  RawPair pair(options);
  pair.end.qp->disconnect();
  pair.run_for(9s);
  EXPECT_EQ(pair.end.qp->state(), QpState::kClosing);
  EXPECT_TRUE(pair.peer.ended && !pair.peer.lost);
  pair.run_for(2s);
  EXPECT_TRUE(pair.end.closed());
  expect_graceful(pair.end);
}

TEST(SimClose, PeerThatIgnoresATerminateIsLeftInTime) {
  PairOptions options = RawPair::without_rtr();
  options.client.timeouts.linger = 10s;
  RawPair pair(options);
  pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1)));  // no receive is posted
  pair.run_for(9s);
  EXPECT_EQ(pair.end.qp->state(), QpState::kTerminate);
  pair.run_for(2s);
  EXPECT_TRUE(pair.end.closed());
}

TEST(SimClose, TerminateBehindAFullSocketWaitsForAPeerThatReadsLate) {  // RFC 5040 §6.2.1
  PairOptions options = RawPair::without_rtr();
  options.net.send_buffer = options.net.receive_buffer = 2000;
  RawPair pair(options);
  Region& source = pair.end.region(20'000, Access::kNone);
  const Sge from = source.sge();
  pair.peer.reads = false;
  post(pair.end, write_of(1, {&from, 1}, Stag{1}, 0));
  pair.run_for(1s);
  pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1)));  // no receive is posted
  pair.run_for(options.client.timeouts.linger - 5s);
  EXPECT_EQ(pair.end.qp->state(), QpState::kTerminate);
  EXPECT_FALSE(pair.peer.terminate());
  pair.peer.reads = true;
  ASSERT_TRUE(pair.run_until([&] { return pair.peer.ended; }, 10s));
  ASSERT_TRUE(pair.peer.terminate());
  EXPECT_FALSE(pair.peer.lost);
}

TEST(SimClose, ResetByThePeerFlushesEverythingOnce) {
  RawPair pair;
  Region& sink = pair.end.region(64, Access::kLocalWrite);
  const Sge to = sink.sge();
  post(pair.end, RecvWr{1, {}});
  post(pair.end, RecvWr{2, {}});
  post(pair.end, read_of(3, {&to, 1}, Stag{1}, 0));
  pair.run_for(1ms);
  pair.peer.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.end.received), (std::vector{Status::kFlushed, Status::kFlushed}));
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
  expect_broken(pair.end, "connection lost");
}

// The peer has said its last word and gone; this end learns it as it sends (rstream's two ends do
// so: the one that finishes last still returns credits).
class GoneWhileSending : public testing::Test {
 protected:
  void send_into_a_reset(const Ulpdu& last_word) {
    const SendWr one[] = {send_of(9, {})};
    send_into_a_reset(last_word, one);
  }
  void send_into_a_reset(const Ulpdu& last_word, std::span<const SendWr> requests) {
    pair.run_for(1ms);
    look_at_what_comes(false);
    pair.peer.send(last_word);
    pair.run_for(1ms);
    pair.peer.reset();
    pair.run_for(1ms);
    EXPECT_TRUE(pair.end.qp->post_send(requests));
    look_at_what_comes(true);
    ASSERT_TRUE(pair.run_until([this] { return pair.end.closed(); }, 1s));
    pair.turn();
    EXPECT_EQ(statuses(pair.end.sent), std::vector(requests.size(), Status::kFlushed));
  }
  RawPair pair;

 private:
  void look_at_what_comes(bool looks) {
    pair.end.host->deaf = !looks;
    pair.end.collects = looks;  // who polls looks, too
  }
};

TEST_F(GoneWhileSending, WhatArrivedBeforeIsDelivered) {
  post(pair.end, RecvWr{1, {}});
  post(pair.end, RecvWr{2, {}});
  send_into_a_reset(segment(untagged(rdmap::Opcode::kSend, 1)));
  EXPECT_EQ(ids(pair.end.received), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(statuses(pair.end.received), (std::vector{Status::kSuccess, Status::kFlushed}));
  expect_broken(pair.end, "connection lost");
}

TEST_F(GoneWhileSending, FaultInWhatArrivedBeforeEndsItAtOnce) {
  send_into_a_reset(segment(untagged(rdmap::Opcode::kSend, 1)));  // no receive is posted
  expect_broken(pair.end, "no receive buffer");
}

TEST(SimClose, CallThatFailsOnASoundSocketEndsTheConnection) {
  SimPair pair({}, [](auto stream) {
    return std::make_unique<CutStream>(std::move(stream), 100,
                                       std::make_error_code(std::errc::bad_address));
  });
  Region& source = pair.client.region(4000, Access::kNone);
  const Sge from = source.sge();
  pair.run_for(1ms);
  // The socket says nothing, and nobody polls: only the look at the time-outs finds it.
  pair.client.host->deaf = true;
  pair.client.collects = false;
  post(pair.client, send_of(1, {&from, 1}));
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.client.collects = true;
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kFlushed});
  expect_broken(pair.client, "Bad address");
}

// Of a request that is wrong and stands behind one that could not be sent nobody can be told.
TEST_F(GoneWhileSending, WrongRequestBehindDoesNotHideIt) {
  post(pair.end, RecvWr{1, {}});
  pair.run_for(1ms);
  const Sge nowhere{nullptr, 8, Stag{0x77}};
  const SendWr both[] = {send_of(9, {}), send_of(10, {&nowhere, 1})};
  send_into_a_reset(segment(untagged(rdmap::Opcode::kSend, 1)), both);
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kSuccess});
  EXPECT_FALSE(pair.end.qp->terminate_sent());
  expect_broken(pair.end, "connection lost");
}

TEST(SimClose, NoRoomForHalfFpdusStopsReadingUntilThereIsSome) {
  RawPair pair;
  Region& inbox = pair.end.region(4000, Access::kLocalWrite);
  const Sge to = inbox.sge();
  post(pair.end, RecvWr{1, {&to, 1}});
  pair.end.host->most_tails = 0;
  pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1), pattern(4000)));
  pair.run_for(1s);
  EXPECT_TRUE(pair.end.received.empty());
  EXPECT_EQ(pair.end.qp->counters().octets_received, 0U);
  pair.end.host->most_tails = 1;
  ASSERT_TRUE(pair.run_until([&] { return !pair.end.received.empty(); }, 1s));
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kSuccess});
  EXPECT_EQ(pair.end.host->tails, 0);
}

TEST(SimClose, HalfFpdusThatFillTheRoomOfAllEndSoon) {
  RawPair pair;
  Region& inbox = pair.end.region(4000, Access::kLocalWrite);
  const Sge to = inbox.sge();
  post(pair.end, RecvWr{1, {&to, 1}});
  pair.end.host->most_tails = 100;
  const auto whole = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(4000)));
  pair.peer.send_octets(ConstBytes(whole).first(2000));
  pair.run_for(200ms);
  EXPECT_FALSE(pair.end.closed());
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 300ms));
  pair.turn();
  expect_broken(pair.end, "half an FPDU");
  EXPECT_EQ(pair.end.host->tails, 0);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
