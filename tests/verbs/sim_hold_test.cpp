#include "verbs/raw_peer.hpp"

// RFC 5044 §7.1.2, RFC 6581 §9.2: a responder sends nothing before it has received an FPDU, and an
// initiator in the peer-to-peer model sends one at once.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;

class Hold : public testing::TestWithParam<mpa::Rtr> {
 protected:
  static PairOptions options() {
    PairOptions made;
    made.rtr = GetParam();
    return made;
  }
  static Ulpdu rtr_message() {
    switch (GetParam()) {
      case mpa::Rtr::kSend: return segment(untagged(rdmap::Opcode::kSend, 1));
      case mpa::Rtr::kRead:
        return segment(untagged(rdmap::Opcode::kReadRequest, 1), encoded(rdmap::ReadRequest{}));
      default: return segment(tagged(rdmap::Opcode::kWrite, Stag{0}, TaggedOffset{0}));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Rtr, Hold,
                         testing::Values(mpa::Rtr::kNone, mpa::Rtr::kSend, mpa::Rtr::kWrite,
                                         mpa::Rtr::kRead));

TEST_P(Hold, ResponderHoldsItsRequestsUntilTheFirstFpdu) {
  RawPair pair(options(), soft::Role::kResponder);
  post(pair.end, send_of(1, {}));
  post(pair.end, write_of(2, {}, Stag{0}, 0));
  pair.run_for(5s);
  EXPECT_TRUE(pair.peer.came.empty());
  EXPECT_TRUE(pair.end.sent.empty());
  EXPECT_EQ(pair.end.qp->state(), QpState::kRts);
  pair.peer.send(rtr_message());
  ASSERT_TRUE(pair.run_until([&] { return pair.end.sent.size() == 2; }, 1s));
  EXPECT_EQ(statuses(pair.end.sent), (std::vector{Status::kSuccess, Status::kSuccess}));
}

TEST_P(Hold, ResponderIsEstablishedOnceItMaySend) {
  RawPair pair(options(), soft::Role::kResponder);
  const bool at_once = GetParam() == mpa::Rtr::kNone;
  pair.run_for(1s);
  EXPECT_EQ(pair.end.count(ConnectionEvent::Kind::kEstablished), at_once ? 1U : 0U);
  pair.peer.send(rtr_message());
  pair.run_for(1s);
  EXPECT_EQ(pair.end.count(ConnectionEvent::Kind::kEstablished), 1U);
}

TEST_P(Hold, OnlyAnExpectedRtrIsAwaitedForABoundedTime) {
  RawPair pair(options(), soft::Role::kResponder);
  post(pair.end, RecvWr{1, {}});
  pair.run_for(9s);
  EXPECT_EQ(pair.end.qp->state(), QpState::kRts);
  pair.run_for(2s);
  EXPECT_EQ(pair.end.closed(), GetParam() != mpa::Rtr::kNone);
  EXPECT_EQ(pair.end.received.size(), GetParam() == mpa::Rtr::kNone ? 0U : 1U);
}

TEST_P(Hold, RtrUsesNoReceiveAndCompletesNothing) {
  SimPair pair(options());
  Region& inbox = pair.server.region(64, Access::kLocalWrite);
  const Sge to = inbox.sge();
  post(pair.server, RecvWr{1, {&to, 1}});
  pair.run_for(1s);
  EXPECT_TRUE(pair.server.received.empty() && pair.client.sent.empty());
  EXPECT_EQ(pair.client.qp->counters().reads, 0U);
  Region& source = pair.client.region(64, Access::kNone);
  const Sge from = source.sge();
  post(pair.client, send_of(2, {&from, 1}));
  ASSERT_TRUE(pair.run_until([&] { return pair.server.received.size() == 1; }, 1s));
  EXPECT_EQ(pair.server.received[0].byte_length, 64U);
  EXPECT_EQ(pair.server.received[0].status, Status::kSuccess);
}

TEST_P(Hold, EitherSideMaySendFirstOnceEstablished) {
  SimPair pair(options());
  if (GetParam() == mpa::Rtr::kNone) post(pair.client, write_of(1, {}, Stag{0}, 0));
  post(pair.client, RecvWr{1, {}});
  post(pair.server, send_of(2, {}));
  ASSERT_TRUE(pair.run_until([&] { return pair.client.received.size() == 1; }, 1s));
  EXPECT_EQ(statuses(pair.server.sent), std::vector{Status::kSuccess});
}

TEST_P(Hold, EmptyFirstSendIsAnOrdinaryOneInTheClientServerModel) {
  RawPair pair(options(), soft::Role::kResponder);
  post(pair.end, RecvWr{1, {}});
  pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1)));
  pair.run_for(1s);
  EXPECT_EQ(pair.end.received.size(), GetParam() == mpa::Rtr::kNone ? 1U : 0U);
}

TEST_P(Hold, GarbageAsTheFirstFpduIsAnsweredByNothing) {
  RawPair pair(options(), soft::Role::kResponder);
  post(pair.end, send_of(1, {}));
  auto octets = pair.peer.frame(rtr_message());
  octets.back() ^= std::byte{0x80};
  pair.peer.send_octets(octets);
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_TRUE(pair.peer.came.empty());
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
  EXPECT_FALSE(pair.end.qp->terminate_sent());
}

// The FPDU is sound, so there is somebody who understands a Terminate.
TEST_P(Hold, FaultInASoundFirstFpduIsAnsweredByATerminate) {
  RawPair pair(options(), soft::Role::kResponder);
  pair.peer.send(segment(tagged(rdmap::Opcode::kWrite, Stag{0x77}, TaggedOffset{0}), pattern(16)));
  ASSERT_TRUE(pair.run_until_closed());
  const auto terminate = pair.peer.terminate();
  ASSERT_TRUE(terminate);
  EXPECT_EQ(terminate->cause, (rdmap::Cause{rdmap::Layer::kDdp, 1, 0x00}));
}

TEST_P(Hold, InitiatorSendsTheAgreedRtrFirst) {
  RawPair pair(options(), soft::Role::kInitiator);
  pair.run_for(1s);
  if (GetParam() == mpa::Rtr::kNone) {
    EXPECT_TRUE(pair.peer.came.empty());
    return;
  }
  ASSERT_EQ(pair.peer.came.size(), 1U);
  EXPECT_EQ(opcode_of(pair.peer.came[0]), opcode_of(rtr_message()));
  EXPECT_EQ(pair.peer.came[0].size(), rtr_message().size());
}

TEST_P(Hold, ResponderThatEndsBeforeTheFirstFpduSendsFinOnly) {
  RawPair pair(options(), soft::Role::kResponder);
  post(pair.end, send_of(1, {}));
  pair.end.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_TRUE(pair.peer.came.empty());
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
}

}  // namespace
}  // namespace iwarp::verbs::simtest
