#include <gtest/gtest.h>

#include <algorithm>

#include "connection/peer.hpp"
#include "iwarp/mpa/mulpdu.hpp"
#include "support/sanitizers.hpp"

// FPDUs that need not fit a segment: how large they are made, and how they fill what leaves at
// once.
namespace iwarp::test {
namespace {

using connection::OutboundLimits;
using connection::Terms;
using ddp::Rights;
using rdmap::Operation;

constexpr std::size_t kSegment = 1448;
constexpr std::size_t kQuantum = 45 * kSegment;
constexpr std::uint32_t kSize = 400'000;

Terms terms_with(mpa::Markers markers) {
  Terms terms = usual_terms();
  terms.modes.markers_tx = terms.modes.markers_rx = markers;
  return terms;
}

// An end with long messages to send, and the other one.
class Large {
 public:
  explicit Large(mpa::Markers markers = mpa::Markers::kOff)
      : markers_(markers), from(sender, terms_with(markers)), to(receiver, terms_with(markers)) {
    const Ulpdu data = pattern(kSize);
    std::ranges::copy(data, source.memory.data());
  }

  void post(Operation operation, std::uint32_t size, std::uint32_t at = 0) {
    if (operation == Operation::kSend) receiver.receives.post(1, {inbox.sge(at, size)});
    sender.post(request_of(operation, inbox.stag, inbox.to(at)), {source.sge(at, size)});
  }
  [[nodiscard]] OutboundLimits limits(std::size_t max_fpdu, std::size_t quantum) const {
    return {.mulpdu = mpa::mulpdu(kSegment, markers_), .max_fpdu = max_fpdu, .quantum = quantum};
  }
  // What leaves, one gathering write after the other, to the end of what there is.
  std::vector<Octets> send_all(const OutboundLimits& limits) {
    std::vector<Octets> writes;
    for (;;) {
      const auto offer = from.core.outbound().offer(from.batch, limits);
      EXPECT_FALSE(offer.fault);
      if (offer.pieces.empty()) return writes;
      writes.push_back(octets_of(offer.pieces));
      from.released += writes.back().size();
      EXPECT_FALSE(from.core.outbound().sent(from.batch, writes.back().size(), from.released));
      from.retire();
    }
  }
  void expect_arrival(const std::vector<Octets>& writes, std::uint32_t size) {
    for (const Octets& octets : writes) to.receive(octets);
    EXPECT_FALSE(to.events.fault);
    EXPECT_TRUE(std::ranges::equal(inbox.part(0, size), source.part(0, size)));
  }
  // Of ULPDUs; FPDUs end where the write does.
  std::vector<std::size_t> lengths_in(const Octets& octets) {
    std::vector<std::size_t> lengths;
    std::size_t at = 0;
    while (at < octets.size()) {
      const std::size_t to_length = markers_ == mpa::Markers::kOn && phase_ == 0 ? 4 : 0;
      lengths.push_back(load_be<std::uint16_t>(&octets[at + to_length]));
      const std::size_t size = framer_.pass(lengths.back());
      phase_ = (phase_ + size) % 512;
      at += size;
    }
    EXPECT_EQ(at, octets.size()) << "an FPDU goes on behind the write";
    return lengths;
  }

 private:
  mpa::Markers markers_;
  mpa::Framer framer_{mpa::Crc::kOn, markers_};
  std::size_t phase_ = 0;

 public:
  Endpoint sender, receiver;
  Region& source = sender.enable(kSize, Rights::kRemoteRead);
  Region& inbox = receiver.enable(kSize, Rights::kLocalWrite | Rights::kRemoteWrite);
  Peer from, to;
};

class OutboundMaxFpdu : public testing::TestWithParam<mpa::Markers> {};

TEST_P(OutboundMaxFpdu, IsTheSizeOfEachButTheLastOfAMessage) {
  for (const std::size_t most : {2000U, 16384U, 65536U}) {
    for (const Operation operation : {Operation::kSend, Operation::kWrite}) {
      Large large(GetParam());
      large.post(operation, kSize);
      const auto writes = large.send_all(large.limits(most, 0));
      std::vector<std::size_t> lengths;
      for (const Octets& octets : writes) {
        const auto some = large.lengths_in(octets);
        lengths.insert(lengths.end(), some.begin(), some.end());
      }
      ASSERT_GT(lengths.size(), 1U);
      const std::size_t ulpdu = mpa::mulpdu(most, GetParam());
      EXPECT_TRUE(std::all_of(lengths.begin(), lengths.end() - 1,
                              [&](std::size_t length) { return length == ulpdu; }));
      EXPECT_EQ(large.from.core.outbound().counters().fpdus, lengths.size());
      large.expect_arrival(writes, kSize);
    }
  }
}

TEST_P(OutboundMaxFpdu, OfNothingOrLessThanASegmentChangesNothing) {
  for (const std::size_t quantum : {std::size_t{0}, kQuantum}) {
    Large plain(GetParam());
    plain.post(Operation::kWrite, kSize);
    const auto writes = plain.send_all(plain.limits(0, quantum));
    for (const std::size_t most : {std::size_t{136}, std::size_t{1000}, kSegment}) {
      Large large(GetParam());
      large.post(Operation::kWrite, kSize);
      EXPECT_EQ(large.send_all(large.limits(most, quantum)), writes) << most;
    }
  }
}

// Shares of the quantum that are hardly larger would leave less than a segment of it empty.
TEST_P(OutboundMaxFpdu, OfLittleMoreThanASegmentKeepsPacketsFull) {
  Large plain(GetParam());
  plain.post(Operation::kWrite, kSize);
  Large large(GetParam());
  large.post(Operation::kWrite, kSize);
  EXPECT_EQ(large.send_all(large.limits(1500, kQuantum)),
            plain.send_all(plain.limits(0, kQuantum)));
}

// What is left of one message, and the next ones, go into the same packets.
TEST_P(OutboundMaxFpdu, HasFpdusEndWithTheQuantum) {
  for (const std::size_t most : {2000U, 16384U, 65536U}) {
    Large large(GetParam());
    constexpr std::uint32_t kMessage = 65536;
    for (std::uint32_t i = 0; i < 6; ++i) large.post(Operation::kWrite, kMessage, i * kMessage);
    const auto writes = large.send_all(large.limits(most, kQuantum));
    ASSERT_GT(writes.size(), 5U);
    const std::size_t fewest = GetParam() == mpa::Markers::kOff ? kQuantum : kQuantum - kSegment;
    std::size_t fpdus = 0;
    for (const Octets& octets : writes) {
      EXPECT_LE(octets.size(), kQuantum);
      EXPECT_TRUE(&octets == &writes.back() || octets.size() >= fewest) << most;
      fpdus += large.lengths_in(octets).size();
    }
    EXPECT_EQ(writes.size(), (6 * kMessage + fpdus * 24) / kQuantum + 1);
    EXPECT_LE(fpdus, 6 * (kMessage / most + 2) + writes.size());
    large.expect_arrival(writes, 6 * kMessage);
  }
}

TEST_P(OutboundMaxFpdu, CountsForReadResponses) {
  Large large(GetParam());
  large.receiver.post(request_of(Operation::kRead, large.source.stag, large.source.to(0)),
                      {large.inbox.sge(0, kSize)});
  large.from.receive(large.to.send());
  const auto writes = large.send_all(large.limits(65536, kQuantum));
  ASSERT_EQ(writes.size(), kSize / kQuantum + 1);
  EXPECT_LE(large.from.core.outbound().counters().fpdus, 2 * writes.size() + 1);
  large.expect_arrival(writes, kSize);
}

// The rest of the one that was cut comes first, and alone; then there is a whole quantum again.
TEST_P(OutboundMaxFpdu, LeavesACutFpduWhole) {
  for (const std::size_t cut : {1UL, 1448UL, 32'579UL, 32'580UL, 32'581UL, 60'000UL}) {
    Large large(GetParam());
    large.post(Operation::kSend, kSize);
    const auto limits = large.limits(65536, kQuantum);
    Octets begun = octets_of(large.from.core.outbound().offer(large.from.batch, limits).pieces);
    begun.resize(cut);
    large.from.released = cut;
    EXPECT_FALSE(large.from.core.outbound().sent(large.from.batch, cut, cut));
    auto writes = large.send_all(limits);
    writes.insert(writes.begin(), begun);
    Octets whole = begun;
    if (cut != 32'580 || GetParam() == mpa::Markers::kOn) {
      whole.insert(whole.end(), writes[1].begin(), writes[1].end());
    }
    EXPECT_LE(whole.size(), kQuantum);
    large.lengths_in(whole);  // ends with an FPDU
    large.expect_arrival(writes, kSize);
  }
}

// Wherever TCP cuts them, down to single octets.
TEST_P(OutboundMaxFpdu, IsTakenInAnyPieces) {
  Large whole(GetParam());
  whole.post(Operation::kSend, 60'000);
  const auto writes = whole.send_all(whole.limits(65536, 0));
  ASSERT_EQ(writes.size(), 1U);
  const Octets& octets = writes[0];
  const std::size_t step = kThreadSanitizer ? 7 : 1;  // there is one thread here, for minutes
  for (std::size_t cut = 1; cut < octets.size(); cut += cut < 1100 ? step : 509 * step) {
    Large large(GetParam());
    large.receiver.receives.post(1, {large.inbox.sge(0, 60'000)});
    large.to.receive(ConstBytes(octets).first(cut));
    EXPECT_TRUE(large.to.deliveries.empty());
    large.to.receive(ConstBytes(octets).subspan(cut));
    ASSERT_EQ(large.to.deliveries.size(), 1U);
    ASSERT_TRUE(std::ranges::equal(large.inbox.part(0, 60'000), whole.source.part(0, 60'000)));
  }
  Large large(GetParam());
  large.receiver.receives.post(1, {large.inbox.sge(0, 60'000)});
  for (std::size_t at = 0; at < octets.size(); at += step) {
    large.to.receive(ConstBytes(octets).subspan(at, std::min(step, octets.size() - at)));
  }
  ASSERT_EQ(large.to.deliveries.size(), 1U);
  EXPECT_TRUE(std::ranges::equal(large.inbox.part(0, 60'000), whole.source.part(0, 60'000)));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutMarkers, OutboundMaxFpdu,
                         testing::Values(mpa::Markers::kOff, mpa::Markers::kOn),
                         [](const auto& which) {
                           return which.param == mpa::Markers::kOn ? "Markers" : "NoMarkers";
                         });

}  // namespace
}  // namespace iwarp::test
