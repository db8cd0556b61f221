#include "verbs/raw_peer.hpp"
#include "verbs/sim_random.hpp"

// The order in which things happen: fences, ORD, turns, and two peers that send everything at once.
namespace iwarp::verbs::simtest {
namespace {

using Ids = std::vector<std::uint64_t>;

std::vector<WireOpcode> opcodes(const std::vector<Ulpdu>& ulpdus) {
  std::vector<WireOpcode> all;
  for (const Ulpdu& ulpdu : ulpdus) all.push_back(opcode_of(ulpdu));
  return all;
}

class Order : public testing::Test {
 protected:
  Order() : pair(options()) {}
  static PairOptions options() {
    PairOptions made = RawPair::without_rtr();
    made.client_depths = {4, 2};
    return made;
  }
  void post_read(std::uint64_t id, std::size_t length = 0) {
    const Sge to = sink.sge(0, length);
    post(pair.end, read_of(id, {&to, 1}, Stag{1}, 0));
  }
  // Answers the n-th Read Request that came.
  void respond(std::size_t n, std::size_t length = 0) {
    std::size_t seen = 0;
    for (const Ulpdu& ulpdu : pair.peer.came) {
      if (opcode_of(ulpdu) != WireOpcode::kReadRequest || seen++ != n) continue;
      const auto asked =
          rdmap::ReadRequest::parse(ConstBytes(ulpdu).subspan(ddp::kUntaggedHeaderSize));
      pair.peer.send(segment(tagged(WireOpcode::kReadResponse, asked->sink_stag, asked->sink_to),
                             iwarp::test::pattern(length)));
    }
    pair.run_for(1ms);
  }

  RawPair pair;
  Region& sink = pair.end.region(64, Access::kLocalWrite);
};

TEST_F(Order, FenceWaitsForReadsBeforeIt) {
  post_read(1);
  SendWr fenced = send_of(2, {});
  fenced.flags = SendFlags::kSignaled | SendFlags::kFence;
  post(pair.end, fenced);
  post(pair.end, send_of(3, {}));
  pair.run_for(1s);
  EXPECT_EQ(opcodes(pair.peer.came), std::vector{WireOpcode::kReadRequest});
  EXPECT_TRUE(pair.end.sent.empty());
  respond(0);
  EXPECT_EQ(opcodes(pair.peer.came),
            (std::vector{WireOpcode::kReadRequest, WireOpcode::kSend, WireOpcode::kSend}));
  EXPECT_EQ(ids(pair.end.sent), (Ids{1, 2, 3}));
}

TEST_F(Order, SendBehindAReadLeavesWithoutAFenceButCompletesInOrder) {
  post_read(1);
  post(pair.end, send_of(2, {}));
  pair.run_for(1s);
  EXPECT_EQ(opcodes(pair.peer.came), (std::vector{WireOpcode::kReadRequest, WireOpcode::kSend}));
  EXPECT_TRUE(pair.end.sent.empty());
  respond(0);
  EXPECT_EQ(ids(pair.end.sent), (Ids{1, 2}));
}

TEST_F(Order, ReadBeyondOrdHoldsBackWhatIsBehindIt) {
  for (std::uint64_t i = 1; i <= 3; ++i) post_read(i);
  post(pair.end, send_of(4, {}));
  pair.run_for(1s);
  EXPECT_EQ(opcodes(pair.peer.came),
            (std::vector{WireOpcode::kReadRequest, WireOpcode::kReadRequest}));
  respond(0);
  EXPECT_EQ(opcodes(pair.peer.came),
            (std::vector{WireOpcode::kReadRequest, WireOpcode::kReadRequest,
                         WireOpcode::kReadRequest, WireOpcode::kSend}));
  EXPECT_EQ(ids(pair.end.sent), Ids{1});
  respond(1);
  respond(2);
  EXPECT_EQ(ids(pair.end.sent), (Ids{1, 2, 3, 4}));
}

TEST_F(Order, ReadIsNotDoneBeforeItsLastSegment) {
  post_read(1, 20);
  pair.run_for(1ms);
  const auto asked =
      rdmap::ReadRequest::parse(ConstBytes(pair.peer.came.at(0)).subspan(ddp::kUntaggedHeaderSize));
  pair.peer.send(
      segment(tagged(WireOpcode::kReadResponse, asked->sink_stag, TaggedOffset{0}, ddp::Last::kNo),
              iwarp::test::pattern(12)));
  pair.run_for(1s);
  EXPECT_TRUE(pair.end.sent.empty());
  pair.peer.send(segment(tagged(WireOpcode::kReadResponse, asked->sink_stag, TaggedOffset{12}),
                         iwarp::test::pattern(8)));
  pair.run_for(1s);
  EXPECT_EQ(ids(pair.end.sent), Ids{1});
  EXPECT_EQ(pair.end.sent.at(0).byte_length, 20U);
}

TEST_F(Order, ReadResponseForAnotherSinkPlacesNothing) {
  post_read(1, 20);
  pair.run_for(1ms);
  pair.peer.send(segment(tagged(WireOpcode::kReadResponse, sink.key(), TaggedOffset{sink.to(0)}),
                         iwarp::test::pattern(20)));
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  ASSERT_TRUE(pair.peer.terminate());
  EXPECT_EQ(pair.peer.terminate()->cause, (rdmap::Cause{rdmap::Layer::kDdp, 1, 0}));
  EXPECT_EQ(sink.memory.bytes()[0], std::byte{0});
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
}

TEST_F(Order, RequestsAndResponsesTakeTurns) {
  Region& readable = pair.end.region(64, Access::kRemoteRead);
  pair.peer.reads = false;
  for (std::uint32_t msn = 1; msn <= 3; ++msn) {
    const rdmap::ReadRequest request{Stag{9}, TaggedOffset{0}, 8, readable.key(),
                                     TaggedOffset{readable.to(0)}};
    pair.peer.send(segment(untagged(WireOpcode::kReadRequest, msn), encoded(request)));
  }
  pair.peer.turn();
  pair.network.net.advance(1ms);  // all three have arrived before anything is posted
  const SendWr list[] = {send_of(1, {}), send_of(2, {}), send_of(3, {})};
  ASSERT_TRUE(pair.end.qp->post_send({list, 1}));
  ASSERT_TRUE(pair.end.qp->post_send({list + 1, 2}));
  pair.peer.reads = true;
  pair.run_for(1ms);
  EXPECT_EQ(pair.peer.came.size(), 6U);
  EXPECT_EQ(pair.end.sent.size(), 3U);
}

TEST_F(Order, ZeroLengthEverythingWorks) {
  SimPair both;
  for (std::uint64_t i = 0; i < 3; ++i) post(both.server, RecvWr{i, {}});
  SendWr inline_send = send_of(3, {});
  inline_send.flags = SendFlags::kSignaled | SendFlags::kInline;
  Region& open = both.server.region(8, Access::kRemoteInvalidate);
  SendWr invalidating = send_of(4, {});
  invalidating.opcode = verbs::Opcode::kSendInvalidate;
  invalidating.invalidate_stag = open.key();
  const SendWr list[] = {send_of(0, {}), write_of(1, {}, Stag{0xBAD}, UINT64_MAX),
                         read_of(2, {}, Stag{0xBAD}, UINT64_MAX), inline_send, invalidating};
  ASSERT_TRUE(both.client.qp->post_send(list));
  ASSERT_TRUE(both.run_until([&] { return both.client.sent.size() == 5; }, 1s));
  EXPECT_EQ(statuses(both.client.sent), std::vector<Status>(5, Status::kSuccess));
  ASSERT_TRUE(both.run_until([&] { return both.server.received.size() == 3; }, 1s));
  EXPECT_EQ(both.server.received[2].byte_length, 0U);
}

TEST(OrderOfMessages, WriteIsInPlaceWhenTheSendBehindItIsDelivered) {
  SimPair pair;
  Region& source = pair.client.region(20'000, Access::kNone);
  Region& target = pair.server.region(20'000, Access::kLocalWrite | Access::kRemoteWrite);
  source.memory.fill(std::byte{0x42});
  post(pair.server, RecvWr{1, {}});
  const Sge from = source.sge();
  const SendWr list[] = {write_of(1, {&from, 1}, target.key(), target.to(0)), send_of(2, {})};
  ASSERT_TRUE(pair.client.qp->post_send(list));
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }, 1s));
  EXPECT_TRUE(std::equal(target.memory.bytes().begin(), target.memory.bytes().end(),
                         source.memory.bytes().begin()));
}

TEST(OrderOfMessages, WritesAndReadsAreNotReportedToTheProgramTheyReach) {  // RFC 5040 §5.1, §5.2
  SimPair pair;
  Region& own = pair.client.region(64, Access::kLocalWrite);
  Region& theirs =
      pair.server.region(64, Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead);
  post(pair.server, RecvWr{1, {}});
  const Sge sge = own.sge();
  const SendWr list[] = {write_of(1, {&sge, 1}, theirs.key(), theirs.to(0)),
                         read_of(2, {&sge, 1}, theirs.key(), theirs.to(0))};
  ASSERT_TRUE(pair.client.qp->post_send(list));
  ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 2; }, 1s));
  EXPECT_EQ(pair.server.qp->counters().peer_writes, 1U) << "the RTR indication is none";
  EXPECT_EQ(pair.server.qp->counters().peer_reads, 1U);
  EXPECT_TRUE(pair.server.received.empty() && pair.server.sent.empty());
}

TEST(OrderOfMessages, SendsAndWritesCompleteOnceTheStreamHasReleasedThem) {  // RFC 5040 §5.5
  PairOptions options;
  options.net.memory = tcp_offload::SimMemory::kReferenced;
  options.net.release_lag = 1s;
  SimPair pair(options);
  Region& source = pair.client.region(4000, Access::kNone);
  Region& target = pair.server.region(4000, Access::kLocalWrite | Access::kRemoteWrite);
  post(pair.server, RecvWr{1, {}});
  const Sge from = source.sge();
  const SendWr list[] = {write_of(1, {&from, 1}, target.key(), target.to(0)), send_of(2, {})};
  ASSERT_TRUE(pair.client.qp->post_send(list));
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }, 500ms));
  EXPECT_TRUE(pair.client.sent.empty()) << "the stream still reads their memory";
  ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 2; }, 5s));
  EXPECT_EQ(ids(pair.client.sent), (Ids{1, 2}));
}

// ---- Everybody at once ----

struct BlastCase {
  std::size_t buffer;
  mpa::Markers markers;
};

class Blast : public testing::TestWithParam<std::tuple<std::size_t, mpa::Markers>> {};
INSTANTIATE_TEST_SUITE_P(Buffers, Blast,
                         testing::Combine(testing::Values(4096, 64, 1),
                                          testing::Values(mpa::Markers::kOff, mpa::Markers::kOn)));

TEST_P(Blast, EveryOperationBothWaysThroughSmallBuffersDoesNotDeadlock) {
  const auto [buffer, markers] = GetParam();
  const std::uint64_t rounds = buffer < 4096 ? 2 : 10 * kThoroughness;
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    iwarp::test::Random random(seed);
    PairOptions options;
    options.seed = seed;
    options.net.send_buffer = options.net.receive_buffer = buffer;
    options.to_client = options.to_server = markers;
    options.client_depths = options.server_depths = {4, 4};
    options.client.capacity = options.server.capacity = {64, 64, 4, 4, 64};
    SimPair pair(options);
    const std::uint32_t longest = buffer == 4096 ? 20'000 : 400;
    BothWays traffic(pair, random, {60, longest, true});
    while (!traffic.there.all_posted()) traffic.there.post_some();
    while (!traffic.back.all_posted()) traffic.back.post_some();
    ASSERT_TRUE(pair.run_until([&] { return traffic.done(); }, 60s)) << "stuck, seed " << seed;
    pair.client.qp->disconnect();
    ASSERT_TRUE(pair.run_until_closed());
    pair.turn();
    traffic.there.check_success();
    traffic.back.check_success();
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
