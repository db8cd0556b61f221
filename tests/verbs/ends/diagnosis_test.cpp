#include <gmock/gmock.h>

#include "iwarp/rdmap/describe.hpp"
#include "support/log_lines.hpp"
#include "verbs/raw_peer.hpp"

// What is said of a connection that is over, at both ends.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::LogLines;
using iwarp::test::pattern;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Diagnosed : public testing::Test {
 protected:
  // The sentence is in the log, once and at that level, with the queue pair and its endpoints.
  void expect_logged(SimEnd& end, const std::string& level) {
    const std::string qp = "queue pair " + std::to_string(end.qp->number()) + ", 10.0.0.";
    EXPECT_THAT(log.with(qp),
                ElementsAre(AllOf(StartsWith(level + " " + qp), HasSubstr(" to 10.0.0."),
                                  HasSubstr(end.qp->diagnosis().to_string()))));
  }
  static void expect_ended(SimEnd& end, EndedBy by, EndLayer layer, const std::string& words) {
    const Diagnosis why = end.qp->diagnosis();
    EXPECT_EQ(why.by, by) << why.to_string();
    EXPECT_EQ(why.layer, layer) << why.to_string();
    EXPECT_THAT(why.sentence, HasSubstr(words));
    EXPECT_THAT(why.to_string(), AllOf(HasSubstr(why.sentence), HasSubstr(to_string(by))));
  }
  // Both ends know the same header, one because it found the fault, one from the Terminate.
  static void expect_header(SimEnd& finder, SimEnd& told, const std::string& header) {
    EXPECT_THAT(finder.qp->diagnosis().header, HasSubstr(header));
    EXPECT_EQ(told.qp->diagnosis().header, finder.qp->diagnosis().header);
    EXPECT_THAT(finder.qp->diagnosis().to_string(), HasSubstr(header));
  }
  static void expect_cause(const Diagnosis& why, const rdmap::Cause& cause) {
    ASSERT_TRUE(why.cause) << why.to_string();
    EXPECT_EQ((rdmap::Cause{static_cast<rdmap::Layer>(why.cause->layer), why.cause->type,
                            why.cause->code}),
              cause);
  }
  // The program hears of it without asking.
  static void expect_event(const SimEnd& end, AsyncEvent::Kind kind) {
    ASSERT_EQ(end.host->reports.size(), 1U);
    EXPECT_EQ(end.host->reports[0].kind, kind);
    EXPECT_EQ(end.host->reports[0].number, end.qp->number());
    EXPECT_THAT(end.host->reports[0].message, HasSubstr(end.qp->diagnosis().sentence));
  }
  template <typename Pair>
  static void close(Pair& pair) {
    ASSERT_TRUE(pair.run_until_closed());
    pair.turn();
  }

  const LogLines log;
};

TEST_F(Diagnosed, LivingConnectionHasNone) {
  SimPair pair;
  pair.run_for(1ms);
  EXPECT_EQ(pair.client.qp->diagnosis().by, EndedBy::kNobody);
  EXPECT_EQ(pair.client.qp->diagnosis().sentence, "");
  EXPECT_EQ(pair.client.qp->diagnosis().to_string(), "nothing has ended it");
  EXPECT_EQ(log.size(), 0U);
}

TEST_F(Diagnosed, DisconnectIsTheProgramsHereAndThePeersFinThere) {
  SimPair pair;
  pair.run_for(1ms);
  pair.server.qp->disconnect();
  close(pair);
  expect_ended(pair.server, EndedBy::kProgram, EndLayer::kNone, "disconnected here");
  expect_ended(pair.client, EndedBy::kPeerFin, EndLayer::kTcp, "the peer closed");
  EXPECT_TRUE(pair.server.qp->diagnosis().graceful && pair.client.qp->diagnosis().graceful);
  expect_logged(pair.server, "debug");
  expect_logged(pair.client, "debug");
  EXPECT_TRUE(pair.server.host->reports.empty() && pair.client.host->reports.empty());
}

TEST_F(Diagnosed, AbortIsTheProgramsHereAndAResetThere) {
  SimPair pair;
  pair.run_for(1ms);
  pair.client.qp->abort();
  close(pair);
  expect_ended(pair.client, EndedBy::kProgram, EndLayer::kNone, "aborted here");
  expect_ended(pair.server, EndedBy::kNetwork, EndLayer::kTcp, "reset");
  expect_logged(pair.client, "debug");
  expect_logged(pair.server, "warning");
}

TEST_F(Diagnosed, DestructionIsLoggedHereAndThePeersFinThere) {
  SimPair pair;
  pair.run_for(1ms);
  pair.client.qp.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.server.closed(); }, 1s));
  pair.turn();
  EXPECT_THAT(log.with("queue pair 1, "),
              ElementsAre(AllOf(StartsWith("debug"), HasSubstr("destroyed here"))));
  expect_ended(pair.server, EndedBy::kPeerFin, EndLayer::kTcp, "the peer closed");
}

TEST_F(Diagnosed, WriteToAWrongStagShowsTheTaggedHeaderAtBothEnds) {
  SimPair pair;
  Region& source = pair.client.region(32, Access::kNone);
  const Sge from = source.sge();
  post(pair.client, write_of(1, {&from, 1}, Stag{0x12345678}, 0xABCDEF));
  close(pair);
  const rdmap::Cause cause = rdmap::cause_of(ddp::Error::kInvalidStag);
  expect_ended(pair.server, EndedBy::kStack, EndLayer::kDdp, "DDP: invalid STag");
  expect_ended(pair.client, EndedBy::kPeerTerminate, EndLayer::kDdp,
               "the peer terminated: DDP: invalid STag");
  expect_cause(pair.server.qp->diagnosis(), cause);
  expect_cause(pair.client.qp->diagnosis(), cause);
  expect_header(pair.server, pair.client,
                "DDP Segment of 46 octets; tagged: opcode 0 (RDMA Write), L 1, STag 0x12345678, "
                "TO 0x0000000000abcdef");
  EXPECT_THAT(pair.server.qp->diagnosis().to_string(),
              HasSubstr("[ended by this side's stack, layer DDP, Terminate 1/1/0x00]"));
  expect_logged(pair.server, "warning");
  expect_logged(pair.client, "warning");
  expect_event(pair.server, AsyncEvent::Kind::kQpAccessError);
  expect_event(pair.client, AsyncEvent::Kind::kQpFatal);
}

TEST_F(Diagnosed, SendWithoutAReceiveShowsTheUntaggedHeaderAtBothEnds) {
  SimPair pair;
  Region& source = pair.client.region(32, Access::kNone);
  const Sge from = source.sge();
  post(pair.client, send_of(1, {&from, 1}));
  close(pair);
  expect_ended(pair.server, EndedBy::kStack, EndLayer::kDdp, "no receive buffer");
  expect_ended(pair.client, EndedBy::kPeerTerminate, EndLayer::kDdp, "no receive buffer");
  expect_header(pair.server, pair.client, "untagged: opcode 3 (Send), L 1, QN 0, MSN 1, MO 0");
  expect_event(pair.server, AsyncEvent::Kind::kQpRequestError);
}

TEST_F(Diagnosed, ReadOfAWrongStagShowsTheReadRequestAtBothEnds) {
  SimPair pair;
  Region& sink = pair.client.region(64, Access::kLocalWrite);
  const Sge to = sink.sge();
  post(pair.client, read_of(1, {&to, 1}, Stag{0xBAD}, 0x77));
  close(pair);
  expect_ended(pair.server, EndedBy::kStack, EndLayer::kRdmap, "RDMAP: invalid STag");
  expect_ended(pair.client, EndedBy::kPeerTerminate, EndLayer::kRdmap, "RDMAP: invalid STag");
  expect_header(pair.server, pair.client,
                "untagged: opcode 1 (RDMA Read Request), L 1, QN 1, MSN 1, MO 0");
  expect_header(pair.server, pair.client, "Read Request: Sink STag 0x");
  expect_header(pair.server, pair.client,
                ", RDMARDSZ 64, Source STag 0x00000bad, Source TO 0x0000000000000077");
}

TEST_F(Diagnosed, OwnMemoryThatMayNotBeReadIsRdmapsFault) {
  SimPair pair;
  Region& source = pair.client.region(64, Access::kNone);
  Sge bad = source.sge();
  bad.lkey = Stag{bad.lkey.value() ^ 1U};
  post(pair.client, send_of(1, {&bad, 1}));
  close(pair);
  expect_ended(pair.client, EndedBy::kStack, EndLayer::kRdmap, "memory that may not be read");
  expect_event(pair.client, AsyncEvent::Kind::kQpFatal);
  expect_ended(pair.server, EndedBy::kPeerTerminate, EndLayer::kRdmap, "local catastrophic");
}

TEST_F(Diagnosed, BadCrcIsMpasFault) {
  RawPair pair;
  auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(40)));
  octets[30] ^= std::byte{0x10};
  pair.peer.send_octets(octets);
  close(pair);
  expect_ended(pair.end, EndedBy::kStack, EndLayer::kMpa, "MPA: CRC mismatch");
  expect_cause(pair.end.qp->diagnosis(), {rdmap::Layer::kLlp, 0, 0x02});
  EXPECT_EQ(pair.end.qp->diagnosis().header, "");
  expect_logged(pair.end, "warning");
  expect_event(pair.end, AsyncEvent::Kind::kQpFatal);
}

TEST_F(Diagnosed, GarbledHeaderIsShownAsItCame) {
  RawPair pair;
  Ulpdu ulpdu = segment(untagged(rdmap::Opcode::kSend, 1), pattern(8));
  ulpdu[1] |= std::byte{0x0C};
  pair.peer.send(ulpdu);
  close(pair);
  expect_ended(pair.end, EndedBy::kStack, EndLayer::kRdmap, "unexpected opcode");
  EXPECT_THAT(pair.end.qp->diagnosis().header, HasSubstr("opcode 15 (reserved), L 1, QN 0"));
}

TEST_F(Diagnosed, FinInsideAnFpduIsThePeersAndMpas) {
  RawPair pair;
  const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(50)));
  pair.peer.send_octets(ConstBytes(octets).first(30));
  pair.peer.finish();
  close(pair);
  expect_ended(pair.end, EndedBy::kPeerFin, EndLayer::kMpa, "inside an FPDU");
  EXPECT_FALSE(pair.end.qp->diagnosis().graceful);
  expect_logged(pair.end, "warning");
}

TEST_F(Diagnosed, HalfAnFpduIsATimeOutInMpa) {
  RawPair pair;
  pair.end.host->enough_tails = 1;  // there is no room for another one
  const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(50)));
  pair.peer.send_octets(ConstBytes(octets).first(30));
  pair.run_for(1s);
  expect_ended(pair.end, EndedBy::kNetwork, EndLayer::kMpa, "half an FPDU");
  expect_logged(pair.end, "warning");
}

TEST_F(Diagnosed, MissingFirstFpduIsATimeOutInMpa) {
  RawPair pair(PairOptions{}, soft::Role::kResponder);
  pair.run_for(11s);
  expect_ended(pair.end, EndedBy::kNetwork, EndLayer::kMpa, "no first FPDU");
}

TEST_F(Diagnosed, FaultOutranksTheGracefulEndUnderWay) {
  StuckPair pair(10s);
  pair.end.qp->disconnect();
  expect_ended(pair.end, EndedBy::kProgram, EndLayer::kNone, "disconnected here");
  pair.run_for(11s);
  expect_ended(pair.end, EndedBy::kNetwork, EndLayer::kTcp, "could not be sent");
  expect_logged(pair.end, "warning");
}

TEST_F(Diagnosed, FirstCauseStaysWhenMoreFollow) {
  RawPair pair;
  pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1)));  // no receive is posted
  ASSERT_TRUE(pair.run_until([&] { return pair.end.qp->terminate_sent().has_value(); }, 1s));
  const std::string first = pair.end.qp->diagnosis().to_string();
  pair.end.qp->disconnect();
  pair.peer.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 10s));
  pair.end.qp->abort();
  pair.turn();
  EXPECT_EQ(pair.end.qp->diagnosis().to_string(), first);
  expect_ended(pair.end, EndedBy::kStack, EndLayer::kDdp, "no receive buffer");
  expect_logged(pair.end, "warning");
}

TEST_F(Diagnosed, OverrunCompletionQueueIsThisStacks) {
  PairOptions options;
  options.server.cq_depth = 2;
  SimPair pair(options);
  pair.server.collects = false;
  for (std::uint64_t i = 0; i < 4; ++i) post(pair.server, RecvWr{i, {}});
  for (std::uint64_t i = 0; i < 4; ++i) post(pair.client, send_of(i, {}));
  close(pair);
  expect_ended(pair.server, EndedBy::kStack, EndLayer::kNone, "overran");
  expect_ended(pair.client, EndedBy::kNetwork, EndLayer::kTcp, "reset");
}

// ---- Before there is a connection ----

TEST_F(Diagnosed, FailedStartUpTellsWhatTheProgramIsTold) {
  TickingNetwork network(1, {});
  SimEnd end(network.net, {}, 1);
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  end.finish_startup(
      Error{std::make_error_code(std::errc::protocol_error), "no MPA reply from 10.0.0.2:1"});
  end.turn();
  expect_ended(end, EndedBy::kStack, EndLayer::kMpa, "no MPA reply");
  EXPECT_THAT(log.all(), ElementsAre(StartsWith("debug queue pair 1: no MPA reply")));
}

TEST_F(Diagnosed, RejectionIsThePeers) {
  TickingNetwork network(1, {});
  SimEnd end(network.net, {}, 1);
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  end.finish_startup(soft::StartupRejected{});
  end.turn();
  expect_ended(end, EndedBy::kPeerReject, EndLayer::kMpa, "rejected");
  EXPECT_EQ(log.size(), 1U);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
