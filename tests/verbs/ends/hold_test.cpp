#include "verbs/raw_peer.hpp"

// RFC 5044 §7.1.2, RFC 6581 §9.2: a responder sends nothing before it has received an FPDU, and an
// initiator in the peer-to-peer model sends one at once. What sends nothing does not wait.
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

// Its Reply has established the connection; a peer may take its time with the first FPDU.
TEST_P(Hold, ResponderIsToldOfTheConnectionOnceAndAtOnce) {
  RawPair pair(options(), soft::Role::kResponder);
  EXPECT_EQ(pair.end.count(ConnectionEvent::Kind::kEstablished), 1U);
  pair.run_for(1s);
  pair.peer.send(rtr_message());
  pair.run_for(1s);
  EXPECT_EQ(pair.end.events.size(), 1U);
}

// The peer owes an RTR indication from the Reply on. Without one its program may say nothing for as
// long as it likes, and what was posted here is held back as long.
TEST_P(Hold, OnlyAnExpectedRtrIsAwaitedForABoundedTime) {
  RawPair pair(options(), soft::Role::kResponder);
  const bool expected = GetParam() != mpa::Rtr::kNone;
  post(pair.end, RecvWr{1, {}});
  post(pair.end, send_of(2, {}));
  pair.run_for(9s);
  EXPECT_EQ(pair.end.qp->state(), QpState::kRts);
  pair.run_for(expected ? 2s : 1h);
  EXPECT_EQ(pair.end.closed(), expected);
  EXPECT_EQ(pair.end.received.size(), expected ? 1U : 0U);
  EXPECT_EQ(pair.end.sent.size(), expected ? 1U : 0U);
  EXPECT_TRUE(pair.peer.came.empty());
  ASSERT_EQ(pair.end.events.size(), expected ? 2U : 1U);
  if (!expected) return;
  EXPECT_EQ(pair.end.events[1].kind, ConnectionEvent::Kind::kDisconnected);
  EXPECT_TRUE(pair.end.end_reason().code);
  EXPECT_NE(pair.end.end_reason().message.find("no first FPDU"), std::string::npos);
}

TEST_P(Hold, PeerThatVanishesBeforeItsFirstFpduHasBeenConnected) {
  for (const bool gracefully : {true, false}) {
    RawPair pair(options(), soft::Role::kResponder);
    post(pair.end, send_of(1, {}));
    gracefully ? pair.peer.finish() : pair.peer.reset();
    ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }));
    pair.turn();
    ASSERT_EQ(pair.end.events.size(), 2U);
    EXPECT_EQ(pair.end.events[0].kind, ConnectionEvent::Kind::kEstablished);
    EXPECT_EQ(pair.end.events[1].kind, ConnectionEvent::Kind::kDisconnected);
    EXPECT_EQ(!pair.end.end_reason().code, gracefully);
    EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
  }
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

// The FPDU is sound, so the peer understands a Terminate.
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

TEST(HoldWithoutRtr, ResponderThatEndsBeforeTheFirstFpduSendsFinOnly) {
  PairOptions without;
  without.rtr = mpa::Rtr::kNone;
  RawPair pair(without, soft::Role::kResponder);
  post(pair.end, send_of(1, {}));
  pair.end.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_TRUE(pair.peer.came.empty());
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
}

// ---- A graceful end before the RTR indication ----

class EndBeforeRtr : public Hold {
 protected:
  EndBeforeRtr() {
    post(pair.end, send_of(1, {}));
    pair.end.qp->disconnect();
    pair.run_for(5s);
    EXPECT_TRUE(pair.peer.came.empty());
    EXPECT_TRUE(pair.end.sent.empty());
  }
  void expect_flushed() {
    pair.turn();
    EXPECT_TRUE(pair.peer.came.empty());
    EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
  }

  RawPair pair{options(), soft::Role::kResponder};
};
INSTANTIATE_TEST_SUITE_P(Rtr, EndBeforeRtr,
                         testing::Values(mpa::Rtr::kSend, mpa::Rtr::kWrite, mpa::Rtr::kRead));

TEST_P(EndBeforeRtr, WaitsForItAndDelivers) {
  pair.peer.send(rtr_message());
  ASSERT_TRUE(pair.run_until([&] { return !pair.end.sent.empty(); }, 1s));
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kSuccess});
  ASSERT_TRUE(pair.run_until_closed());
  const bool answers = GetParam() == mpa::Rtr::kRead;
  ASSERT_EQ(pair.peer.came.size(), answers ? 2U : 1U);
  const auto is_send = [](const auto& it) { return opcode_of(it) == rdmap::Opcode::kSend; };
  EXPECT_EQ(std::count_if(pair.peer.came.begin(), pair.peer.came.end(), is_send), 1);
}

TEST_P(EndBeforeRtr, FlushesOnceThePeerHasEnded) {
  pair.peer.finish();
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 1s));
  expect_flushed();
}

TEST_P(EndBeforeRtr, IsGivenUpWithAPeerThatStaysSilent) {
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, kDefaultLinger));
  expect_flushed();
  EXPECT_TRUE(pair.end.end_reason().code);
}

// The response to an RTR Read is one of the things that leave before FIN: the peer's fenced Write
// waits for it.
TEST_P(Hold, ResponderThatEndsAtOnceAnswersAnRtrThatIsOwed) {
  SimPair pair(options());
  Region& source = pair.client.region(64, Access::kNone);
  Region& sink = pair.server.region(64, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = source.sge();
  SendWr fenced = write_of(1, {&from, 1}, sink.key(), sink.to(0));
  fenced.flags = fenced.flags | SendFlags::kFence;
  post(pair.client, fenced);
  pair.server.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed(10s));
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kSuccess});
  EXPECT_FALSE(pair.client.ended_badly() || pair.server.ended_badly());
}

// ---- Work that sends nothing ----

class LocalWork : public Hold {
 protected:
  RawPair pair{options(), soft::Role::kResponder};
  Region& region = pair.end.region(64, Access::kLocalWrite | Access::kWindowBind);
  const std::shared_ptr<soft::MemoryRegistry>& registry = pair.end.host->registry;
  soft::SoftMw window{registry, pair.end.pd, WindowType::k1,
                      registry->reserve(soft::Reserved::kWindow1, pair.end.pd->id()).value()};
  soft::SoftFastMr fast{registry, pair.end.pd,
                        registry->reserve(soft::Reserved::kFastRegion, pair.end.pd->id()).value()};

  void post_bind(std::uint64_t id) {
    const BindWr bind{window.next_rkey(), region.mr->lkey(), region.memory.data(), 64,
                      Access::kRemoteWrite};
    post(pair.end, SendWr{.wr_id = id, .opcode = Opcode::kBindWindow, .bind = &bind});
  }
  void post_register(std::uint64_t id) {
    const RegisterWr what{fast.stag(), region.memory.data(), 64, Access::kRemoteRead};
    post(pair.end, SendWr{.wr_id = id, .opcode = Opcode::kRegister, .registration = &what});
  }
  void post_invalidate(std::uint64_t id) {
    post(pair.end,
         SendWr{.wr_id = id, .opcode = Opcode::kInvalidate, .invalidate_stag = fast.stag()});
  }
};
INSTANTIATE_TEST_SUITE_P(Rtr, LocalWork, testing::Values(mpa::Rtr::kNone, mpa::Rtr::kWrite));

TEST_P(LocalWork, IsPerformedBeforeTheFirstFpdu) {
  post_bind(1);
  post_register(2);
  post_invalidate(3);
  pair.run_for(1ms);
  EXPECT_EQ(ids(pair.end.sent), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(statuses(pair.end.sent), std::vector(3, Status::kSuccess));
  EXPECT_TRUE(pair.peer.came.empty());
  pair.peer.send(segment(tagged(rdmap::Opcode::kWrite, window.rkey(), TaggedOffset{region.to(8)}),
                         pattern(16)));
  pair.run_for(1ms);
  EXPECT_EQ(region.memory.data()[8], pattern(16)[0]);
  EXPECT_EQ(pair.end.qp->state(), QpState::kRts);
}

TEST_P(LocalWork, WaitsForTheRequestsInFrontOfIt) {
  post_bind(1);
  post(pair.end, send_of(2, {}));
  post_register(3);
  post(pair.end, send_of(4, {}));
  pair.run_for(1ms);
  EXPECT_EQ(ids(pair.end.sent), std::vector<std::uint64_t>{1});
  EXPECT_TRUE(pair.peer.came.empty());
  pair.peer.send(rtr_message());
  pair.run_for(1ms);
  EXPECT_EQ(ids(pair.end.sent), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(statuses(pair.end.sent), std::vector(4, Status::kSuccess));
}

TEST_P(LocalWork, ThatFailsEndsTheConnectionWithoutAnFpdu) {
  post_bind(1);
  post_invalidate(2);  // nothing has been registered
  post(pair.end, send_of(3, {}));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent),
            (std::vector{Status::kSuccess, Status::kWindowBindError, Status::kFlushed}));
  EXPECT_TRUE(pair.peer.came.empty());
  EXPECT_FALSE(pair.end.qp->terminate_sent());
}

TEST_P(LocalWork, IsPerformedBeforeAGracefulEnd) {
  post_bind(1);
  post(pair.end, send_of(2, {}));
  pair.end.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), (std::vector{Status::kSuccess, Status::kFlushed}));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
