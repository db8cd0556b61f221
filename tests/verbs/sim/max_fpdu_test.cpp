#include <algorithm>

#include "iwarp/mpa/mulpdu.hpp"
#include "support/random.hpp"
#include "verbs/answered_stream.hpp"
#include "verbs/raw_peer.hpp"

// FPDUs that may be larger than a segment, as each end has chosen for what it sends.
namespace iwarp::verbs::simtest {
namespace {

constexpr std::size_t kSmallSegment = 1448;
constexpr std::size_t kLongMessage = 300'000;
constexpr mpa::Markers kWithAndWithoutMarkers[] = {mpa::Markers::kOff, mpa::Markers::kOn};

PairOptions of_small_segments() {
  PairOptions options;
  options.net.emss = kSmallSegment;
  options.net.send_buffer = options.net.receive_buffer = 2 * kLongMessage;
  return options;
}

// The sizes of the ULPDUs that a Write makes.
std::vector<std::size_t> sizes_of_a_write(std::uint32_t max_fpdu, mpa::Markers markers) {
  PairOptions options = of_small_segments();
  options.rtr = mpa::Rtr::kNone;
  options.to_server = markers;
  options.client.max_fpdu = max_fpdu;
  RawPair pair(options);
  Region& source = pair.end.region(kLongMessage, Access::kNone);
  const Sge from = source.sge();
  post(pair.end, write_of(1, {&from, 1}, Stag{1}, 0));
  std::vector<std::size_t> sizes;
  EXPECT_TRUE(pair.run_until([&] {
    return !pair.peer.came.empty() && (pair.peer.came.back()[0] & std::byte{0x40}) != std::byte{0};
  }));
  EXPECT_FALSE(pair.peer.bad);
  for (const Ulpdu& ulpdu : pair.peer.came) sizes.push_back(ulpdu.size());
  return sizes;
}

TEST(MaxFpdu, IsTheSizeOfFpdusThatNeedNotFitASegment) {
  for (const mpa::Markers markers : kWithAndWithoutMarkers) {
    for (const std::uint32_t most : {2000U, 16384U, 65536U}) {
      const auto sizes = sizes_of_a_write(most, markers);
      const std::size_t ulpdu = mpa::mulpdu(most, markers);
      ASSERT_EQ(sizes.size(), kLongMessage / (ulpdu - ddp::kTaggedHeaderSize) + 1);
      EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(sizes, ulpdu)), sizes.size() - 1);
    }
  }
}

TEST(MaxFpdu, DoesNotMakeFpdusSmallerThanASegment) {
  for (const mpa::Markers markers : kWithAndWithoutMarkers) {
    const auto usual = sizes_of_a_write(0, markers);
    EXPECT_EQ(std::ranges::max(usual), mpa::mulpdu(kSmallSegment, markers));
    EXPECT_EQ(sizes_of_a_write(kLeastMaxFpdu, markers), usual);
    EXPECT_EQ(sizes_of_a_write(1000, markers), usual);
  }
}

// What travels one way is as the end has chosen that sends it: its Sends and Writes, and what the
// peer reads from it.
TEST(MaxFpdu, IsOfTheDirectionOfTheEndThatHasChosenIt) {
  PairOptions options = of_small_segments();
  options.server.max_fpdu = 16384;
  SimPair pair(options);
  Region& here = pair.client.region(kLongMessage, Access::kLocalWrite | Access::kRemoteWrite);
  Region& there = pair.server.region(
      kLongMessage, Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead);
  const Sge of_client = here.sge();
  const Sge of_server = there.sge();
  // How many FPDUs came of something, from the client and from the server.
  const auto fpdus_of = [&](const std::function<void()>& start,
                            const std::vector<Completion>& ends) {
    const QpCounters client = pair.client.qp->counters();
    const QpCounters server = pair.server.qp->counters();
    const std::size_t before = ends.size();
    iwarp::test::Random(before).fill(here.memory.bytes());
    iwarp::test::Random(before + 1).fill(there.memory.bytes());
    start();
    EXPECT_TRUE(pair.run_until([&] { return ends.size() > before; }));
    pair.run_for(1s);
    EXPECT_EQ(ends.back().status, Status::kSuccess);
    EXPECT_TRUE(std::ranges::equal(here.memory.bytes(), there.memory.bytes()));
    return std::pair(pair.client.qp->counters().fpdus_sent - client.fpdus_sent,
                     pair.server.qp->counters().fpdus_sent - server.fpdus_sent);
  };
  const std::size_t small =
      kLongMessage / (mpa::mulpdu(kSmallSegment, mpa::Markers::kOff) - 14) + 1;
  const std::size_t large = kLongMessage / (mpa::mulpdu(16384, mpa::Markers::kOff) - 14) + 1;
  ASSERT_LT(large, small / 10);
  const auto written = fpdus_of(
      [&] {
        post(pair.client, write_of(1, {&of_client, 1}, there.key(), there.to(0)));
      },
      pair.client.sent);
  EXPECT_EQ(written, std::pair(small, std::size_t{0}));
  const auto read = fpdus_of(
      [&] {
        post(pair.client, read_of(2, {&of_client, 1}, there.key(), there.to(0)));
      },
      pair.client.sent);
  EXPECT_EQ(read, std::pair(std::size_t{1}, large));
  const auto written_back = fpdus_of(
      [&] {
        post(pair.server, write_of(3, {&of_server, 1}, here.key(), here.to(0)));
      },
      pair.server.sent);
  EXPECT_EQ(written_back, std::pair(std::size_t{0}, large));
  const auto sent = fpdus_of(
      [&] {
        post(pair.client, RecvWr{4, {&of_client, 1}});
        post(pair.server, send_of(5, {&of_server, 1}));
      },
      pair.client.received);
  EXPECT_EQ(sent, std::pair(std::size_t{0}, large));
}

// A packet that ended within an FPDU would have the next one begin with its rest.
TEST(MaxFpdu, HasEveryQuantumEndWithAnFpdu) {
  constexpr std::size_t kQuantum = 45 * kSmallSegment;
  constexpr std::size_t kMessage = 65536;
  for (const std::uint32_t most : {16384U, 65536U}) {
    PairOptions made = of_small_segments();
    made.net.send_quantum = kQuantum;
    made.net.send_buffer = made.net.receive_buffer = 16 * kMessage;
    made.client.max_fpdu = most;
    std::vector<std::size_t> offers;
    const AnsweredStream::Answer note = noting_octets(offers);
    SimPair pair(made, [&](std::unique_ptr<tcp_offload::Stream> inner) {
      return std::make_unique<AnsweredStream>(std::move(inner), note);
    });
    pair.run_for(100ms);  // the RTR indication
    offers.clear();
    Region& source = pair.client.region(8 * kMessage, Access::kNone);
    Region& sink = pair.server.region(8 * kMessage, Access::kLocalWrite | Access::kRemoteWrite);
    iwarp::test::Random(most).fill(source.memory.bytes());
    std::vector<Sge> pieces;
    std::vector<SendWr> writes;
    for (std::size_t i = 0; i < 8; ++i) pieces.push_back(source.sge(i * kMessage, kMessage));
    for (std::size_t i = 0; i < 8; ++i) {
      writes.push_back(write_of(i, {&pieces[i], 1}, sink.key(), sink.to(i * kMessage)));
    }
    ASSERT_TRUE(pair.client.qp->post_send(writes));
    ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 8; }));
    pair.run_for(1s);
    EXPECT_TRUE(std::ranges::equal(source.memory.bytes(), sink.memory.bytes()));
    ASSERT_EQ(offers.size(), 9U);
    EXPECT_TRUE(std::all_of(offers.begin(), offers.end() - 1,
                            [](std::size_t octets) { return octets == kQuantum; }));
    const std::uint64_t fpdus = pair.server.qp->counters().fpdus_received;
    EXPECT_LE(fpdus, 8 * (kMessage / most + 2) + offers.size());
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
