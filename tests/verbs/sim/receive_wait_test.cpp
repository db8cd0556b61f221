#include "verbs/raw_peer.hpp"

// QpOptions::receive_wait: a message that finds no receive waits for one, and what came behind it
// waits with it.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;
using testing::Values;

constexpr std::size_t kLength = 100;
constexpr std::uint8_t kNoBuffer = 0x02;  // RFC 5041 §7.1

PairOptions waiting(std::chrono::milliseconds wait = 1s) {
  PairOptions options = RawPair::without_rtr();
  options.client.receive_wait = wait;
  return options;
}

class ReceiveWait : public testing::Test {
 protected:
  explicit ReceiveWait(const PairOptions& options = waiting()) : pair(options) {}

  void send(std::uint32_t msn) {
    pair.peer.send(segment(untagged(WireOpcode::kSend, msn), pattern(kLength, msn)));
  }
  void post_receive(std::uint64_t id) {
    const Sge to = inbox.sge(id * kLength, kLength);
    post(pair.end, RecvWr{id, {&to, 1}});
  }
  [[nodiscard]] bool holds(std::uint64_t id, unsigned seed) {
    const auto* at = inbox.memory.data() + id * kLength;
    return std::equal(at, at + kLength, pattern(kLength, seed).begin());
  }

  RawPair pair;
  Region& inbox = pair.end.region(8 * kLength, Access::kLocalWrite);
  Region& target = pair.end.region(kLength, Access::kLocalWrite | Access::kRemoteWrite);
};

TEST_F(ReceiveWait, EndsWithTheReceive) {
  send(1);
  pair.run_for(900ms);
  EXPECT_TRUE(pair.end.received.empty());
  EXPECT_TRUE(pair.peer.came.empty());
  post_receive(0);
  ASSERT_TRUE(pair.run_until([&] { return !pair.end.received.empty(); }, 10ms));
  EXPECT_EQ(pair.end.received[0].status, Status::kSuccess);
  EXPECT_EQ(pair.end.received[0].byte_length, kLength);
  EXPECT_TRUE(holds(0, 1));
}

TEST_F(ReceiveWait, HoldsUpWhatComesBehind) {
  send(1);
  pair.peer.send(segment(tagged(WireOpcode::kWrite, target.key(), TaggedOffset{target.to(0)}),
                         pattern(kLength, 9)));
  send(2);
  pair.run_for(100ms);
  EXPECT_EQ(target.memory.data()[1], std::byte{0}) << "the Write overtook the Send";
  post_receive(0);
  pair.run_for(100ms);
  EXPECT_EQ(ids(pair.end.received), std::vector<std::uint64_t>{0});
  EXPECT_TRUE(std::equal(target.memory.data(), target.memory.data() + kLength,
                         pattern(kLength, 9).begin()));
  post_receive(1);
  pair.run_for(100ms);
  EXPECT_EQ(ids(pair.end.received), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_TRUE(holds(0, 1) && holds(1, 2));
}

TEST_F(ReceiveWait, IsBounded) {
  send(1);
  pair.run_for(900ms);
  EXPECT_FALSE(pair.peer.terminate());
  ASSERT_TRUE(pair.run_until([&] { return pair.peer.terminate().has_value(); }, 300ms));
  EXPECT_EQ(pair.peer.terminate()->cause.code, kNoBuffer);
  EXPECT_EQ(pair.end.qp->terminate_sent()->code, kNoBuffer);
  post_receive(0);
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
}

TEST_F(ReceiveWait, IsEachMessagesOwn) {
  for (std::uint32_t msn = 1; msn <= 5; ++msn) {
    send(msn);
    pair.run_for(800ms);
    post_receive(0);
    ASSERT_TRUE(pair.run_until([&] { return pair.end.received.size() == msn; }, 10ms)) << msn;
  }
  EXPECT_FALSE(pair.peer.terminate());
}

TEST_F(ReceiveWait, IsThereForImmediateData) {
  pair.peer.send(segment(untagged(WireOpcode::kImmediate, 1), pattern(8, 1)));
  pair.run_for(100ms);
  EXPECT_TRUE(pair.end.received.empty());
  post(pair.end, RecvWr{3, {}});
  pair.run_for(100ms);
  ASSERT_EQ(ids(pair.end.received), std::vector<std::uint64_t>{3});
  EXPECT_TRUE(has(pair.end.received[0].flags, CompletionFlags::kImmediate));
}

TEST_F(ReceiveWait, DoesNotExcuseOtherFaults) {
  send(2);
  ASSERT_TRUE(pair.run_until([&] { return pair.peer.terminate().has_value(); }, 100ms));
  EXPECT_EQ(pair.peer.terminate()->cause, rdmap::cause_of(ddp::Error::kMsnOutOfRange));
}

TEST_F(ReceiveWait, LeavesTheRestOfAnFpduItsTime) {
  const auto behind = pair.peer.frame(segment(untagged(WireOpcode::kSend, 1), pattern(kLength, 1)));
  auto half = pair.peer.frame(segment(untagged(WireOpcode::kSend, 2), pattern(kLength, 2)));
  const std::vector<std::byte> rest(half.begin() + 50, half.end());
  half.resize(50);
  pair.peer.send_octets(behind);
  pair.peer.send_octets(half);
  pair.run_for(1ms);
  pair.end.host->tails += pair.end.host->enough_tails;  // little time for halves, from now on
  pair.run_for(900ms);
  ASSERT_FALSE(pair.end.closed());
  post_receive(0);
  post_receive(1);
  pair.peer.send_octets(rest);
  pair.run_for(100ms);
  EXPECT_EQ(ids(pair.end.received), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_TRUE(holds(1, 2));
}

// What comes behind a message that waits has to be kept.
TEST_F(ReceiveWait, NeedsRoomForWhatComesBehind) {
  auto half = pair.peer.frame(segment(untagged(WireOpcode::kSend, 1), pattern(kLength, 1)));
  const std::vector<std::byte> rest(half.begin() + 50, half.end());
  half.resize(50);
  pair.peer.send_octets(half);
  pair.run_for(1ms);
  pair.end.host->enough_tails = 40;
  pair.peer.send_octets(rest);
  ASSERT_TRUE(pair.run_until([&] { return pair.peer.terminate().has_value(); }, 100ms));
  EXPECT_EQ(pair.peer.terminate()->cause.code, kNoBuffer);
}

// Another thread posts when this one has just found no receive.
TEST_F(ReceiveWait, SeesAReceiveThatIsPostedAsItBegins) {
  send(1);
  send(2);
  pair.end.host->inside_receive = [&] { post_receive(0); };
  ASSERT_TRUE(pair.run_until([&] { return !pair.end.received.empty(); }, 10ms));
  EXPECT_EQ(pair.end.host->inside_receive, nullptr);
}

TEST_F(ReceiveWait, EndsWithTheConnection) {
  send(1);
  pair.run_for(100ms);
  pair.end.qp->abort();
  pair.run_for(100ms);
  EXPECT_TRUE(pair.end.closed());
  EXPECT_TRUE(pair.end.received.empty());
  EXPECT_EQ(pair.end.host->tails, 0);
}

TEST_F(ReceiveWait, EndsWithTheQueuePair) {
  send(1);
  send(2);
  pair.run_for(100ms);
  pair.end.qp.reset();
  EXPECT_EQ(pair.end.host->tails, 0);
  EXPECT_TRUE(pair.run_until([&] { return pair.peer.ended; }, 10s));
}

TEST_F(ReceiveWait, EndsThoughTheProgramHasDisconnected) {
  send(1);
  pair.run_for(100ms);
  pair.end.qp->disconnect();
  pair.peer.finish();
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 10s));
}

TEST_F(ReceiveWait, NoticesALostConnectionAtItsEnd) {
  send(1);
  pair.run_for(100ms);
  pair.peer.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 2s));
}

// However the stream is cut, and with more behind it than a turn reads.
class ReceiveWaitCut : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Piece, ReceiveWaitCut, Values(1, 7, 119, 121, 1000, 1 << 20));

TEST_P(ReceiveWaitCut, GoesOnWhereItStopped) {
  const std::size_t piece = GetParam();
  const std::uint32_t messages = piece < 100 ? 40 : 6000;  // 700 kB
  RawPair pair(waiting());
  Region& inbox = pair.end.region(kLength, Access::kLocalWrite);
  std::vector<std::byte> stream;
  for (std::uint32_t msn = 1; msn <= messages; ++msn) {
    const auto fpdu =
        pair.peer.frame(segment(untagged(WireOpcode::kSend, msn), pattern(kLength, msn)));
    stream.insert(stream.end(), fpdu.begin(), fpdu.end());
  }
  ConstBytes rest = stream;
  for (std::uint32_t msn = 1; msn <= messages; ++msn) {
    const std::size_t enough = std::size_t{msn + 2} * stream.size() / messages;
    while (!rest.empty() && stream.size() - rest.size() < enough) {
      const std::size_t size = std::min(piece, rest.size());
      pair.peer.send_octets(rest.first(size));
      rest = rest.subspan(size);
      pair.turn();
    }
    const Sge to = inbox.sge();
    post(pair.end, RecvWr{msn, {&to, 1}});
    ASSERT_TRUE(pair.run_until([&] { return pair.end.received.size() == msn; }, 10ms)) << msn;
    ASSERT_TRUE(std::equal(inbox.memory.data(), inbox.memory.data() + kLength,
                           pattern(kLength, msn).begin()))
        << msn;
  }
}

// From a shared queue, whose owner knows of no wait.
TEST(ReceiveWaitShared, EndsWithASharedReceive) {
  PairOptions options = waiting();
  options.client.srq = provider::SrqOptions{.max_wr = 8, .max_sge = 1};
  RawPair pair(options);
  pair.peer.send(segment(untagged(WireOpcode::kSend, 1)));
  pair.run_for(500ms);
  ASSERT_TRUE(pair.end.received.empty());
  const RecvWr request{.wr_id = 5};
  ASSERT_TRUE(pair.end.srq->post_receive({&request, 1}));
  pair.run_for(10ms);
  EXPECT_EQ(ids(pair.end.received), std::vector<std::uint64_t>{5});
}

TEST(ReceiveWaitShared, IsBoundedThere) {
  PairOptions options = waiting(300ms);
  options.client.srq = provider::SrqOptions{.max_wr = 8, .max_sge = 1};
  RawPair pair(options);
  pair.peer.send(segment(untagged(WireOpcode::kSend, 1)));
  pair.run_for(200ms);
  EXPECT_FALSE(pair.peer.terminate());
  ASSERT_TRUE(pair.run_until([&] { return pair.peer.terminate().has_value(); }, 300ms));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
