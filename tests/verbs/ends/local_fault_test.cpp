#include "verbs/raw_peer.hpp"

// Errors of the program itself, and what the peer's Terminate does to its requests.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;
using rdmap::Cause;
using rdmap::Layer;

using Statuses = std::vector<Status>;

Cause received_cause(const SimEnd& end) {
  const auto told = end.qp->terminate_received();
  EXPECT_TRUE(told) << "no Terminate came";
  if (!told) return {};
  return {static_cast<Layer>(told->layer), told->type, told->code};
}

constexpr Cause kLocalCatastrophic{Layer::kRdmap, 0, 0x00};

TEST(LocalFault, BadLkeyOfASendIsALocalProtectionErrorAndTerminates) {
  SimPair pair;
  Region& source = pair.client.region(64, Access::kNone);
  post(pair.server, RecvWr{1, {}});
  Sge bad = source.sge();
  bad.lkey = Stag{bad.lkey.value() ^ 1U};
  post(pair.client, send_of(1, {&bad, 1}));
  post(pair.client, send_of(2, {}));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent),
            (Statuses{Status::kLocalProtectionError, Status::kFlushed}));
  EXPECT_EQ(received_cause(pair.server), kLocalCatastrophic);
  EXPECT_EQ(statuses(pair.server.received), Statuses{Status::kFlushed});
}

TEST(LocalFault, LkeyOfAnotherPdIsALocalProtectionError) {
  SimPair pair;
  const auto other = std::make_shared<soft::SoftPd>(ddp::ProtectionDomainId{77});
  const Sge foreign = pair.client.region(64, Access::kNone, other).sge();
  post(pair.client, send_of(1, {&foreign, 1}));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), Statuses{Status::kLocalProtectionError});
}

TEST(LocalFault, RangeOutsideItsRegionIsALocalProtectionError) {
  SimPair pair;
  Region& source = pair.client.region(64, Access::kNone);
  const Sge beyond = source.sge(33, 32);
  post(pair.client, send_of(1, {&beyond, 1}));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), Statuses{Status::kLocalProtectionError});
}

TEST(LocalFault, RequestsBeforeABadOneAreDone) {
  PairOptions options;
  options.net.send_buffer = options.net.receive_buffer = 2000;
  SimPair pair(options);
  Region& source = pair.client.region(9000, Access::kNone);
  Region& inbox = pair.server.region(9000, Access::kLocalWrite);
  const Sge from = source.sge();
  const Sge to = inbox.sge();
  const Sge bad{source.memory.data(), 64, Stag{1}};
  post(pair.server, RecvWr{7, {&to, 1}});
  const SendWr list[] = {send_of(1, {&from, 1}), send_of(2, {&bad, 1}), send_of(3, {&from, 1})};
  ASSERT_TRUE(pair.client.qp->post_send(list));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent),
            (Statuses{Status::kSuccess, Status::kLocalProtectionError, Status::kFlushed}));
  EXPECT_EQ(statuses(pair.server.received), Statuses{Status::kSuccess});
}

TEST(LocalFault, UnsignaledRequestThatFailsCompletesNevertheless) {
  SimPair pair;
  const Sge bad{pair.client.region(64, Access::kNone).memory.data(), 64, Stag{1}};
  SendWr request = send_of(1, {&bad, 1});
  request.flags = SendFlags::kNone;
  post(pair.client, request);
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), Statuses{Status::kLocalProtectionError});
}

TEST(LocalFault, BadLkeyOfAReceiveIsALocalProtectionErrorAndTerminates) {
  SimPair pair;
  Region& readonly = pair.server.region(64, Access::kNone);
  Region& source = pair.client.region(64, Access::kNone);
  const Sge to = readonly.sge();
  const Sge from = source.sge();
  post(pair.server, RecvWr{1, {&to, 1}});
  post(pair.server, RecvWr{2, {}});
  post(pair.client, send_of(3, {&from, 1}));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.server.received),
            (Statuses{Status::kLocalProtectionError, Status::kFlushed}));
  EXPECT_EQ(received_cause(pair.client), kLocalCatastrophic);
}

TEST(LocalFault, BadSinkOfAReadIsALocalProtectionErrorAndTerminates) {
  SimPair pair;
  Region& source = pair.server.region(64, Access::kRemoteRead);
  Region& readonly = pair.client.region(64, Access::kNone);
  const Sge to = readonly.sge();
  post(pair.client, RecvWr{9, {}});
  post(pair.client, read_of(1, {&to, 1}, source.key(), source.to(0)));
  post(pair.client, send_of(2, {}));
  post(pair.server, RecvWr{8, {}});
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  ASSERT_EQ(pair.client.sent.size(), 2U);
  EXPECT_EQ(pair.client.sent[0].status, Status::kLocalProtectionError);
  EXPECT_EQ(statuses(pair.client.received), Statuses{Status::kFlushed});
  EXPECT_EQ(received_cause(pair.server), kLocalCatastrophic);
}

TEST(LocalFault, EmptyElementsAreNotLookedAt) {
  SimPair pair;
  Region& source = pair.client.region(8, Access::kNone);
  Region& inbox = pair.server.region(8, Access::kLocalWrite);
  const Sge from[] = {{nullptr, 0, Stag{5}}, source.sge(), {nullptr, 0, Stag{6}}};
  const Sge to[] = {{nullptr, 0, Stag{5}}, inbox.sge(), {nullptr, 0, Stag{6}}};
  post(pair.server, RecvWr{1, to});
  post(pair.client, send_of(2, from));
  ASSERT_TRUE(pair.run_until([&] { return pair.server.received.size() == 1; }, 1s));
  EXPECT_EQ(statuses(pair.server.received), Statuses{Status::kSuccess});
}

// ---- The peer says no ----

TEST(RemoteFault, ReadThatThePeerRefusesIsARemoteAccessErrorAndTheRestIsFlushed) {
  SimPair pair;
  Region& readable = pair.server.region(64, Access::kRemoteRead);
  Region& closed = pair.server.region(64, Access::kLocalWrite);
  Region& sink = pair.client.region(64, Access::kLocalWrite);
  const Sge to = sink.sge();
  post(pair.client, RecvWr{9, {}});
  const SendWr list[] = {read_of(1, {&to, 1}, readable.key(), readable.to(0)),
                         read_of(2, {&to, 1}, closed.key(), closed.to(0)),
                         read_of(3, {&to, 1}, readable.key(), readable.to(0)), send_of(4, {})};
  ASSERT_TRUE(pair.client.qp->post_send(list));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(ids(pair.client.sent), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  ASSERT_EQ(pair.client.sent.size(), 4U);
  EXPECT_EQ(pair.client.sent[1].status, Status::kRemoteAccessError);
  EXPECT_EQ(pair.client.sent[2].status, Status::kFlushed);
  EXPECT_EQ(statuses(pair.client.received), Statuses{Status::kFlushed});
  EXPECT_EQ(received_cause(pair.client), (Cause{Layer::kRdmap, 1, 0x02}));
}

TEST(RemoteFault, ReadWhoseSourceGoesMidwayIsARemoteAccessError) {
  PairOptions options;
  options.net.send_buffer = options.net.receive_buffer = 4096;
  SimPair pair(options);
  Region& source = pair.server.region(100'000, Access::kRemoteRead);
  Region& sink = pair.client.region(100'000, Access::kLocalWrite);
  const Sge to = sink.sge();
  source.memory.fill(std::byte{1});
  post(pair.client, read_of(1, {&to, 1}, source.key(), source.to(0)));
  ASSERT_TRUE(pair.run_until([&] { return sink.memory.bytes()[30'000] == std::byte{1}; }, 1s));
  source.mr.reset();
  source.memory.fill(std::byte{2});  // it is the program's again
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), Statuses{Status::kRemoteAccessError});
  const ConstBytes got = sink.memory.bytes();
  EXPECT_EQ(std::count(got.begin(), got.end(), std::byte{2}), 0) << "read after deregistration";
}

TEST(RemoteFault, TerminateOfThePeerFlushesEverything) {
  RawPair pair;
  Region& sink = pair.end.region(64, Access::kLocalWrite);
  const Sge to = sink.sge();
  post(pair.end, RecvWr{1, {}});
  post(pair.end, read_of(2, {&to, 1}, Stag{1}, 0));
  post(pair.end, read_of(3, {&to, 1}, Stag{1}, 0));
  rdmap::Terminate message;
  message.cause = {Layer::kDdp, 2, 0x02};
  pair.peer.send(segment(untagged(rdmap::Opcode::kTerminate, 1), encoded(message)));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), (Statuses{Status::kFlushed, Status::kFlushed}));
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
  EXPECT_EQ(received_cause(pair.end), message.cause);
  EXPECT_FALSE(pair.end.qp->terminate_sent()) << "a Terminate is not answered by one";
  EXPECT_FALSE(pair.peer.terminate());
  EXPECT_TRUE(pair.peer.ended && !pair.peer.lost);
  EXPECT_NE(pair.end.end_reason().message.find("the peer terminated"), std::string::npos);
}

TEST(RemoteFault, NothingBehindATerminateIsTakenIn) {
  RawPair pair;
  Region& exposed = pair.end.region(64, Access::kLocalWrite | Access::kRemoteWrite);
  pair.peer.send(segment(untagged(rdmap::Opcode::kTerminate, 1), encoded(rdmap::Terminate{})));
  pair.peer.send(segment(tagged(rdmap::Opcode::kWrite, exposed.key(), TaggedOffset{exposed.to(0)}),
                         pattern(64)));
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(exposed.memory.bytes()[0], std::byte{0});
}

TEST(RemoteFault, TerminateTooShortForWhatItAnnouncesEndsTheStreamAllTheSame) {
  RawPair pair;
  const Ulpdu half{std::byte{0x11}, std::byte{0x00}, std::byte{0xE0}, std::byte{0x00}};
  pair.peer.send(segment(untagged(rdmap::Opcode::kTerminate, 1), half));
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(received_cause(pair.end), (Cause{Layer::kDdp, 1, 0x00}));
}

TEST(RemoteFault, ScribblingOnWhatAPeerReadsKeepsTheCrcGood) {
  PairOptions options;
  options.net.send_buffer = 5000;  // segments are cut, and sent on later
  SimPair pair(options);
  Region& source = pair.server.region(60'000, Access::kRemoteRead);
  Region& sink = pair.client.region(60'000, Access::kLocalWrite);
  const Sge to = sink.sge();
  for (std::uint64_t i = 0; i < 5; ++i) {
    post(pair.client, read_of(i, {&to, 1}, source.key(), source.to(0)));
  }
  unsigned value = 0;
  const auto scribble = [&] {
    source.memory.fill(std::byte(++value & 0xFFU));
    return pair.client.sent.size() == 5;
  };
  ASSERT_TRUE(pair.run_until(scribble, 10s));
  EXPECT_EQ(statuses(pair.client.sent), Statuses(5, Status::kSuccess));
  EXPECT_EQ(pair.server.qp->state(), QpState::kRts);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
