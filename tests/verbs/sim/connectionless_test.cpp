#include "verbs/raw_peer.hpp"

// Queue pairs of programs that know no connection, only two queue pairs (QpInit::connectionless).
namespace iwarp::verbs::simtest {
namespace {

using Statuses = std::vector<Status>;

PairOptions connectionless() {
  PairOptions options = RawPair::without_rtr();
  options.client.connectionless = true;
  return options;
}

class Connectionless : public testing::Test {
 protected:
  Connectionless() { pair.run_for(1ms); }
  void expect_alive() {
    EXPECT_EQ(pair.end.qp->state(), QpState::kRts);
    EXPECT_TRUE(pair.end.sent.empty() && pair.end.received.empty());
  }

  RawPair pair{connectionless()};
};

TEST_F(Connectionless, PeersFinShowsASecondLaterAndLeavesReceivesPosted) {
  post(pair.end, RecvWr{1, {}});
  pair.peer.finish();
  pair.run_for(900ms);
  expect_alive();
  pair.run_for(300ms);
  EXPECT_TRUE(pair.end.closed());
  EXPECT_TRUE(pair.end.received.empty());
  post(pair.end, send_of(2, {}));
  post(pair.end, send_of(3, {}));
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), (Statuses{Status::kUnreachable, Status::kFlushed}));
}

TEST_F(Connectionless, AManagerThatComesBehindTheConnectionChangesNothing) {
  post(pair.end, RecvWr{1, {}});
  pair.end.qp->use_manager();
  pair.peer.finish();
  pair.run_for(900ms);
  expect_alive();
  pair.run_for(300ms);
  EXPECT_TRUE(pair.end.closed());
  EXPECT_TRUE(pair.end.received.empty());
}

TEST_F(Connectionless, WhatIsPostedBehindThePeersFinStillLeaves) {
  pair.peer.finish();
  pair.run_for(10ms);
  post(pair.end, send_of(1, {}));
  pair.run_for(10ms);
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kSuccess});
  EXPECT_EQ(pair.peer.came.size(), 1U);
}

TEST_F(Connectionless, ResetShowsInRequestsThatFailASecondLater) {
  post(pair.end, RecvWr{1, {}});
  pair.peer.reset();
  pair.run_for(10ms);
  post(pair.end, send_of(2, {}));
  post(pair.end, send_of(3, {}));
  pair.run_for(900ms);
  expect_alive();
  pair.run_for(300ms);
  EXPECT_TRUE(pair.end.closed());
  EXPECT_EQ(statuses(pair.end.sent), (Statuses{Status::kUnreachable, Status::kFlushed}));
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
  ASSERT_EQ(pair.end.count(ConnectionEvent::Kind::kDisconnected), 1U);
  EXPECT_NE(pair.end.end_reason().message.find("connection lost"), std::string::npos);
}

TEST_F(Connectionless, HalfAnFpduAsTheLastWordShowsASecondLater) {
  auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1)));
  octets.resize(octets.size() / 2);
  pair.peer.send_octets(octets);
  pair.peer.finish();
  pair.run_for(900ms);
  expect_alive();
  pair.run_for(300ms);
  EXPECT_TRUE(pair.end.closed());
  EXPECT_NE(pair.end.end_reason().message.find("inside an FPDU"), std::string::npos);
}

TEST_F(Connectionless, TerminateShowsAtOnce) {
  post(pair.end, RecvWr{1, {}});
  rdmap::Terminate message;
  message.cause = rdmap::cause_of(rdmap::Error::kLocalCatastrophic);
  pair.peer.send(segment(untagged(rdmap::Opcode::kTerminate, 1), encoded(message)));
  pair.run_for(10ms);
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
  EXPECT_TRUE(pair.end.qp->terminate_received());
}

TEST_F(Connectionless, ProgramsEndDoesNotWait) {
  for (const bool gently : {true, false}) {
    RawPair gone(connectionless());
    gone.run_for(1ms);
    gone.peer.reset();
    gone.run_for(10ms);
    post(gone.end, send_of(1, {}));
    gone.turn();
    gently ? gone.end.qp->disconnect() : gone.end.qp->abort();
    gone.turn();
    EXPECT_TRUE(gone.end.closed());
    EXPECT_EQ(gone.end.sent.size(), 1U);
  }
}

TEST(ConnectionlessStart, RequestsPostedBeforeFailWithTheStartUp) {
  TickingNetwork network{1, {}};
  EndOptions options;
  options.connectionless = true;
  SimEnd end{network.net, options, 1};
  post(end, send_of(1, {}));
  post(end, send_of(2, {}));
  post(end, RecvWr{3, {}});
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  end.finish_startup(Error{std::make_error_code(std::errc::timed_out), "nobody came"});
  end.turn();
  EXPECT_EQ(statuses(end.sent), (Statuses{Status::kUnreachable, Status::kFlushed}));
  EXPECT_EQ(statuses(end.received), Statuses{Status::kFlushed});
}

TEST(ConnectionlessStart, OneThatAManagerConnectsAfterAllHearsOfItsPeersEndAtOnce) {
  PairOptions options = connectionless();
  options.client.uses_manager = true;
  RawPair pair{options};
  pair.run_for(1ms);
  post(pair.end, RecvWr{1, {}});
  pair.peer.finish();
  pair.run_for(10ms);
  EXPECT_TRUE(pair.end.closed());
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
  post(pair.end, send_of(2, {}));
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kFlushed});
}

}  // namespace
}  // namespace iwarp::verbs::simtest
