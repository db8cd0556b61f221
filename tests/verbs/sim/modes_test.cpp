#include <algorithm>

#include "iwarp/mpa/mulpdu.hpp"
#include "verbs/raw_peer.hpp"

// What was agreed about Markers and CRC, and the size of TCP's segments, decide what a queue pair
// puts on the wire and what it takes from there (RFC 5044 §4.4, §4.5, §7.1.1).
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;

constexpr mpa::Markers kMarkersChoices[] = {mpa::Markers::kOff, mpa::Markers::kOn};

std::size_t payload_octets(const std::vector<Ulpdu>& writes) {
  std::size_t octets = 0;
  for (const Ulpdu& ulpdu : writes) octets += ulpdu.size() - ddp::kTaggedHeaderSize;
  return octets;
}

// Has the queue pair write `size` octets; returns the ULPDUs that came of it.
std::vector<Ulpdu> written(RawPair& pair, std::size_t size) {
  Region& source = pair.end.region(size, Access::kNone);
  const Sge from = source.sge();
  pair.peer.came.clear();
  post(pair.end, write_of(1, {&from, 1}, Stag{1}, 0));
  EXPECT_TRUE(pair.run_until([&] { return payload_octets(pair.peer.came) == size; }, 10s));
  EXPECT_FALSE(pair.peer.bad);
  return pair.peer.came;
}

// The raw peer finds no FPDU in a stream with Markers that it does not expect, nor the other way.
TEST(StreamModes, MarkersAreSentExactlyIfThePeerAskedForThem) {
  for (const mpa::Markers markers : kMarkersChoices) {
    PairOptions options = RawPair::without_rtr();
    options.to_server = markers;
    RawPair pair(options);
    EXPECT_FALSE(written(pair, 5000).empty());
  }
}

TEST(StreamModes, MarkersAreTakenOutExactlyIfTheyWereAskedFor) {
  for (const mpa::Markers markers : kMarkersChoices) {
    PairOptions options = RawPair::without_rtr();
    options.to_client = markers;
    RawPair pair(options);
    Region& inbox = pair.end.region(1300, Access::kLocalWrite);
    const Sge to = inbox.sge();
    post(pair.end, RecvWr{1, {&to, 1}});
    const Ulpdu message = pattern(1300);
    pair.peer.send(segment(untagged(rdmap::Opcode::kSend, 1), message));
    ASSERT_TRUE(pair.run_until([&] { return pair.end.received.size() == 1; }, 1s));
    EXPECT_TRUE(std::ranges::equal(inbox.memory.bytes(), message));
  }
}

TEST(StreamModes, CrcFieldIsNotLookedAtIfNeitherSideWantsCrc) {
  PairOptions options = RawPair::without_rtr();
  options.crc = mpa::Crc::kOff;
  RawPair pair(options);
  post(pair.end, RecvWr{1, {}});
  auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1)));
  for (std::size_t i = 1; i <= mpa::kCrcSize; ++i) octets[octets.size() - i] ^= std::byte{0xA5};
  pair.peer.send_octets(octets);
  ASSERT_TRUE(pair.run_until([&] { return pair.end.received.size() == 1; }, 1s));
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kSuccess});
}

// Each as large as it may be, and none larger.
void expect_segments_of(const std::vector<Ulpdu>& ulpdus, std::size_t mulpdu) {
  ASSERT_GT(ulpdus.size(), 1U);
  for (std::size_t i = 0; i + 1 < ulpdus.size(); ++i) EXPECT_EQ(ulpdus[i].size(), mulpdu);
  EXPECT_LE(ulpdus.back().size(), mulpdu);
}

TEST(StreamModes, UlpdusAreAsLargeAsTheMulpduOfTheStreamsEmss) {
  for (const mpa::Markers markers : kMarkersChoices) {
    for (const std::size_t emss : {100U, 536U, 1448U, 8948U, 65483U}) {
      PairOptions options = RawPair::without_rtr();
      options.to_server = markers;
      options.net.emss = emss;
      RawPair pair(options);
      expect_segments_of(written(pair, 200'000), mpa::mulpdu(emss, markers));
    }
  }
}

TEST(StreamModes, UlpdusFollowAChangeOfTheEmss) {
  RawPair pair;
  for (const std::size_t emss : {1448U, 500U, 8948U}) {
    pair.link.from(tcp_offload::SimSide::kConnector).set_emss(emss);
    expect_segments_of(written(pair, 20'000), mpa::mulpdu(emss, mpa::Markers::kOff));
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
