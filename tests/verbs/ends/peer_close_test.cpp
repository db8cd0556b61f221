#include "verbs/cut_stream.hpp"
#include "verbs/raw_peer.hpp"

// How connections end with a peer that ends in any way, misbehaves or is gone, and how long that
// may take.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;

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
  pair.end.host->enough_tails = 4;  // of which an octet is a part that others may need
  const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(50)));
  for (std::size_t i = 0; i < 6; ++i) {
    pair.peer.send_octets(ConstBytes(octets).subspan(i, 1));
    pair.run_for(100ms);
  }
  EXPECT_TRUE(pair.end.closed());
}

TEST(SimClose, PeerThatStopsReadingHoldsACloseUpForABoundedTime) {
  StuckPair pair(10s);
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
  StuckPair pair(10s);
  pair.end.host->deaf = true;
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
    pair.end.collects = looks;  // a thread that polls looks, too
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

// However short the room for halves is, whole FPDUs come through.
TEST(SimClose, NoRoomForHalfFpdusStopsNoWholeOnes) {
  RawPair pair;
  Region& inbox = pair.end.region(4000, Access::kLocalWrite);
  const Sge to = inbox.sge();
  post(pair.end, RecvWr{1, {&to, 1}});
  const std::ptrdiff_t others = pair.end.host->enough_tails;
  pair.end.host->tails = others;
  pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1), pattern(4000)));
  ASSERT_TRUE(pair.run_until([&] { return !pair.end.received.empty(); }, 1s));
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kSuccess});
  EXPECT_EQ(pair.end.host->tails, others);
}

class HalfFpdus : public testing::Test {
 protected:
  void send_half(std::size_t octets) {
    post(pair_.end, RecvWr{1, {}});
    const auto whole = pair_.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(4000)));
    pair_.peer.send_octets(ConstBytes(whole).first(octets));
  }
  RawPair pair_;
};

TEST_F(HalfFpdus, ThatFillTheRoomOfAllEndSoon) {
  pair_.end.host->enough_tails = 1000;
  send_half(2000);
  pair_.run_for(200ms);
  EXPECT_FALSE(pair_.end.closed());
  ASSERT_TRUE(pair_.run_until([&] { return pair_.end.closed(); }, 300ms));
  pair_.turn();
  expect_broken(pair_.end, "half an FPDU");
  EXPECT_EQ(pair_.end.host->tails, 0);
}

TEST_F(HalfFpdus, ThatTakeMoreThanAllTheRoomEndAtOnce) {
  pair_.end.host->enough_tails = 500;
  send_half(2000);
  ASSERT_TRUE(pair_.run_until([&] { return pair_.end.closed(); }, 20ms));
}

// The longest wait ends, of the others none: there is room again.
TEST_F(HalfFpdus, AreGivenUpNoFurtherThanTheRoomNeeds) {
  RawPair others[3];
  std::vector<std::shared_ptr<soft::Driven>> all;
  std::ptrdiff_t held = 0;
  for (RawPair& one : others) {
    const auto whole = one.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(4000)));
    one.run_for(1ms * (1 + std::ssize(all)));  // each has a network, and a time, of its own
    one.peer.send_octets(ConstBytes(whole).first(1000));
    one.run_for(1ms);
    all.emplace_back(one.end.qp, &one.end.qp->halves());
    held += one.end.host->tails;
  }
  bool is_short = false;
  soft::HalfFpduLedger ledger([&] { is_short = true; }, {.enough = held, .most = held});
  ledger.account(held);
  EXPECT_TRUE(is_short);
  soft::make_room(all, ledger, others[0].end.host->running() + 1s);
  EXPECT_TRUE(others[0].end.closed());
  EXPECT_FALSE(others[1].end.closed() || others[2].end.closed());
}

}  // namespace
}  // namespace iwarp::verbs::simtest
