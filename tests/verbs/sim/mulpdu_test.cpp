#include "support/random.hpp"
#include "verbs/answered_stream.hpp"
#include "verbs/raw_peer.hpp"

// A path whose segment size changes while messages are on it (RFC 5041 §3).
namespace iwarp::verbs::simtest {
namespace {

class ChangingMulpdu : public testing::Test {
 protected:
  static PairOptions options(std::uint64_t seed) {
    PairOptions made;
    made.seed = seed;
    made.net.send_buffer = made.net.receive_buffer = 3000;  // FPDUs are cut, and sent on later
    return made;
  }
};

TEST_F(ChangingMulpdu, BringsEveryOctetOfWhatWasUnderWay) {
  constexpr std::size_t kSize = 40'000;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    iwarp::test::Random random(seed);
    SimPair pair(options(seed));
    Region& source = pair.client.region(kSize, Access::kNone);
    Region& inbox = pair.server.region(kSize, Access::kLocalWrite);
    random.fill(source.memory.bytes());
    const Sge from = source.sge();
    const Sge to = inbox.sge();
    post(pair.server, RecvWr{1, {&to, 1}});
    post(pair.client, send_of(2, {&from, 1}));
    ASSERT_TRUE(pair.run_until(
        [&] {
          pair.to_server().set_emss(random.between(200, 1460));
          return !pair.server.received.empty();
        },
        10s));
    EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kSuccess});
    EXPECT_TRUE(std::equal(source.memory.bytes().begin(), source.memory.bytes().end(),
                           inbox.memory.bytes().begin()));
  }
}

TEST_F(ChangingMulpdu, BoundsEverySegmentThatIsMadeLater) {
  PairOptions made = RawPair::without_rtr();
  RawPair pair(made);
  Region& source = pair.end.region(6000, Access::kNone);
  const Sge from = source.sge();
  const auto longest_of_a_send = [&](std::size_t emss) {
    pair.link.from(tcp_offload::SimSide::kConnector).set_emss(emss);
    pair.peer.came.clear();
    post(pair.end, send_of(1, {&from, 1}));
    EXPECT_TRUE(pair.run_until([&] {
      return !pair.peer.came.empty() &&
             (pair.peer.came.back()[0] & std::byte{0x40}) != std::byte{0};
    }));
    std::size_t longest = 0;
    for (const Ulpdu& ulpdu : pair.peer.came) longest = std::max(longest, ulpdu.size());
    return longest;
  };
  EXPECT_EQ(longest_of_a_send(1460), 1454U);  // RFC 5044 §4.5, without Markers
  EXPECT_EQ(longest_of_a_send(600), 594U);
  EXPECT_EQ(longest_of_a_send(1460), 1454U);
}

// One write on the stream for each quantum, which FPDUs fill to the last octet if they can.
TEST(SendQuantum, IsFilledByWholeFpdusAndNotExceeded) {
  constexpr std::size_t kFpdu = 1460;
  constexpr std::size_t kQuantum = 45 * kFpdu;
  constexpr std::size_t kSize = 4 * 45 * (kFpdu - 6 - ddp::kTaggedHeaderSize);
  PairOptions made;
  made.net.emss = kFpdu;
  made.net.send_quantum = kQuantum;
  made.net.send_buffer = made.net.receive_buffer = 2 * kSize;
  std::vector<std::size_t> offers;
  const AnsweredStream::Answer note = noting_octets(offers);
  SimPair pair(made, [&](std::unique_ptr<tcp_offload::Stream> inner) {
    return std::make_unique<AnsweredStream>(std::move(inner), note);
  });
  pair.run_for(100ms);  // the RTR indication
  offers.clear();
  Region& source = pair.client.region(kSize, Access::kNone);
  Region& sink = pair.server.region(kSize, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = source.sge();
  post(pair.client, write_of(1, {&from, 1}, sink.key(), sink.to(0)));
  ASSERT_TRUE(pair.run_until([&] { return !pair.client.sent.empty(); }, 10s));
  EXPECT_EQ(offers, std::vector(4, kQuantum));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
