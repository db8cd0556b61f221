#include "iwarp/mpa/framer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "mpa/helpers.hpp"
#include "mpa/naive_framer.hpp"

namespace iwarp::mpa::test {
namespace {

using Pieces = std::vector<ConstBytes>;

GatherList roomy() { return {1U << 20U, 8192}; }

// Advances a framer that has Markers to the given position modulo 512.
Framer framer_at(Crc crc, std::size_t phase) {
  Framer framer(crc, Markers::kOn);
  GatherList out = roomy();
  if (phase == 0) return framer;
  // Behind a Marker the smallest FPDU ends at 12; one that ends at 520 has another at 512.
  const Bytes filler(phase == 8 ? 506 : phase - 10);
  framer.frame(filler, {}, PayloadUse::kCopy, out);
  if (out.size() % kMarkerInterval != phase) ADD_FAILURE() << "cannot reach " << phase;
  return framer;
}

TEST(Framer, SmallCopiedFpduIsOnePiece) {
  GatherList out = roomy();
  Framer framer(Crc::kOn, Markers::kOff);
  const Bytes header = pattern(18), payload = pattern(45);
  framer.frame(header, Pieces{payload}, PayloadUse::kCopy, out);
  framer.frame(header, Pieces{payload}, PayloadUse::kCopy, out);
  EXPECT_EQ(out.pieces().size(), 1U);
  EXPECT_EQ(out.size(), 2 * unmarked_size(63));
}

TEST(Framer, ReferencedPayloadIsNotCopied) {
  for (Markers markers : kMarkersChoices) {
    GatherList out = roomy();
    Framer framer(Crc::kOn, markers);
    const Bytes header = pattern(14), payload = pattern(3000);
    framer.frame(header, Pieces{payload}, PayloadUse::kReference, out);
    EXPECT_LT(out.arena_used(), 60U);
    EXPECT_EQ(out.size(), Framer(Crc::kOn, markers).wire_size(3014));
  }
}

TEST(Framer, CopiedPayloadMayChangeAfterwards) {
  GatherList out = roomy();
  Framer framer(Crc::kOn, Markers::kOn);
  Bytes payload = pattern(1000);
  framer.frame({}, Pieces{payload}, PayloadUse::kCopy, out);
  NaiveFramer naive(Crc::kOn, Markers::kOn);
  naive.frame(payload);
  std::fill(payload.begin(), payload.end(), std::byte{0xEE});
  EXPECT_EQ(flatten(out), naive.stream());
}

TEST(Framer, CrcFieldIsZeroWithoutCrc) {
  for (PayloadUse use : {PayloadUse::kCopy, PayloadUse::kReference}) {
    GatherList out = roomy();
    Framer framer(Crc::kOff, Markers::kOff);
    const Bytes payload = pattern(4);
    framer.frame({}, Pieces{payload}, use, out);
    Bytes expected = from_hex("0004");
    expected.insert(expected.end(), payload.begin(), payload.end());
    expected.resize(12);
    EXPECT_EQ(flatten(out), expected);
  }
}

TEST(Framer, PadIsZeroWhateverTheMemoryHeldBefore) {
  for (Markers markers : kMarkersChoices) {
    for (PayloadUse use : {PayloadUse::kCopy, PayloadUse::kReference}) {
      for (std::size_t length = 18; length < 22; ++length) {
        GatherList out(4096, 64);
        std::memset(out.append(4096), 0xFF, 4096);
        out.clear();
        const Bytes ulpdu = pattern(length);
        const ConstBytes all(ulpdu);
        Framer(Crc::kOff, markers).frame(all.first(14), Pieces{all.subspan(14)}, use, out);
        Bytes expected = from_hex(markers == Markers::kOn ? "00000000 0000" : "0000");
        expected.back() = static_cast<std::byte>(length);
        expected.insert(expected.end(), ulpdu.begin(), ulpdu.end());
        expected.resize(Framer(Crc::kOff, markers).wire_size(length));
        EXPECT_EQ(flatten(out), expected) << length;
      }
    }
  }
}

TEST(Framer, FramesEveryShortLengthAsTheOracleDoes) {
  for (Crc crc : kCrcs) {
    for (Markers markers : kMarkersChoices) {
      for (PayloadUse use : {PayloadUse::kCopy, PayloadUse::kReference}) {
        for (std::size_t length = 0; length < 40; ++length) {
          GatherList out = roomy();
          const Bytes ulpdu = pattern(length);
          Framer(crc, markers).frame({}, Pieces{ulpdu}, use, out);
          NaiveFramer naive(crc, markers);
          naive.frame(ulpdu);
          ASSERT_EQ(flatten(out), naive.stream()) << length;
        }
      }
    }
  }
}

TEST(Framer, SplitOfTheUlpduDoesNotShowOnTheWire) {
  const Bytes ulpdu = pattern(1200);
  for (Markers markers : kMarkersChoices) {
    NaiveFramer naive(Crc::kOn, markers);
    naive.frame(ulpdu);
    for (std::size_t cut = 0; cut <= ulpdu.size(); cut += 7) {
      for (PayloadUse use : {PayloadUse::kCopy, PayloadUse::kReference}) {
        GatherList out = roomy();
        const ConstBytes all(ulpdu);
        const Pieces pieces = {all.subspan(cut / 2, cut - cut / 2), {}, all.subspan(cut)};
        Framer(Crc::kOn, markers).frame(all.first(cut / 2), pieces, use, out);
        ASSERT_EQ(flatten(out), naive.stream()) << cut;
      }
    }
  }
}

TEST(Framer, WireSizeForetellsWhatFrameAppends) {
  for (std::size_t phase = 0; phase < 512; phase += 4) {
    if (phase == 4) continue;  // no FPDU ends there: a Marker is never last
    for (const std::size_t length :
         {0UL, 1UL, 2UL, 30UL, 490UL, 494UL, 498UL, 502UL, 506UL, 510UL, 1010UL, 1442UL}) {
      Framer framer = framer_at(Crc::kOn, phase);
      GatherList out = roomy();
      const std::size_t foretold = framer.wire_size(length);
      framer.frame(pattern(length), {}, PayloadUse::kCopy, out);
      ASSERT_EQ(out.size(), foretold) << phase << ' ' << length;
    }
  }
}

TEST(Framer, MarkerBehindThePadPrecedesTheCrc) {
  // Marker, ULPDU_Length and 506 octets reach up to 512, without PAD.
  GatherList out = roomy();
  Framer(Crc::kOn, Markers::kOn).frame(pattern(506), {}, PayloadUse::kCopy, out);
  const Bytes wire = flatten(out);
  ASSERT_EQ(wire.size(), 520U);
  EXPECT_EQ(load_be<std::uint16_t>(wire.data() + 514), 508U);
  EXPECT_EQ(load_le<std::uint32_t>(wire.data() + 516), bitwise_crc32c(ConstBytes(wire).first(516)));
}

TEST(Framer, MarkerBehindTheCrcBelongsToTheNextFpdu) {
  GatherList out = roomy();
  Framer framer(Crc::kOn, Markers::kOn);
  framer.frame(pattern(502), {}, PayloadUse::kCopy, out);
  ASSERT_EQ(out.size(), 512U);
  framer.frame(pattern(2), {}, PayloadUse::kCopy, out);
  const Bytes wire = flatten(out);
  ASSERT_EQ(wire.size(), 524U);
  EXPECT_EQ(load_be<std::uint32_t>(wire.data() + 512), 0U);
  EXPECT_EQ(load_be<std::uint16_t>(wire.data() + 516), 2U);
  EXPECT_EQ(load_le<std::uint32_t>(wire.data() + 520),
            bitwise_crc32c(ConstBytes(wire).subspan(512, 8)));
}

TEST(Framer, AllMarkersOfAnFpduPointToItsLength) {
  GatherList out = roomy();
  Framer framer(Crc::kOff, Markers::kOn);
  framer.frame(pattern(100), {}, PayloadUse::kCopy, out);
  const std::size_t start = out.size();
  framer.frame(pattern(4000), {}, PayloadUse::kCopy, out);
  const Bytes wire = flatten(out);
  for (std::size_t at = 512; at < wire.size(); at += 512) {
    EXPECT_EQ(load_be<std::uint16_t>(wire.data() + at), 0U);
    EXPECT_EQ(load_be<std::uint16_t>(wire.data() + at + 2), at - start);
  }
}

TEST(Framer, LargestUlpduThatMayBePostedHasMarkersInRange) {
  GatherList out = roomy();
  NaiveFramer naive(Crc::kOn, Markers::kOn);
  const Bytes ulpdu = pattern(64768);
  Framer(Crc::kOn, Markers::kOn).frame(ulpdu, {}, PayloadUse::kCopy, out);
  naive.frame(ulpdu);
  const Bytes wire = flatten(out);
  EXPECT_EQ(wire, naive.stream());
  const std::size_t last = (wire.size() - 1) / 512 * 512;
  EXPECT_EQ(load_be<std::uint16_t>(wire.data() + last + 2), last - 4);
}

TEST(Framer, AssigningACopyBackUndoesWhatWasFramed) {
  GatherList out = roomy();
  Framer framer(Crc::kOn, Markers::kOn);
  framer.frame(pattern(300), {}, PayloadUse::kCopy, out);
  const Framer snapshot = framer;
  const GatherList::Mark mark = out.mark();
  framer.frame(pattern(900, 2), {}, PayloadUse::kCopy, out);
  framer = snapshot;
  out.rewind(mark);
  framer.frame(pattern(77, 3), {}, PayloadUse::kCopy, out);

  NaiveFramer naive(Crc::kOn, Markers::kOn);
  naive.frame(pattern(300));
  naive.frame(pattern(77, 3));
  EXPECT_EQ(flatten(out), naive.stream());
}

TEST(Framer, NeverTakesMoreRoomThanForetold) {
  Random random(7);
  for (int i = 0; i < 4000; ++i) {
    const Markers markers = random.pick(kMarkersChoices);
    const PayloadUse use = random.one_in(2) ? PayloadUse::kCopy : PayloadUse::kReference;
    const Bytes header = pattern(random.between(0, 28));
    const std::size_t piece_count = random.between(0, 5);
    std::vector<Bytes> memory;
    std::size_t payload_size = 0;
    for (std::size_t p = 0; p < piece_count; ++p) {
      memory.push_back(pattern(random.between(0, 1300)));
      payload_size += memory.back().size();
    }
    const std::size_t length = header.size() + payload_size;
    const std::size_t copied = header.size() + (use == PayloadUse::kCopy ? payload_size : 0);
    const std::size_t arena = Framer::arena_needed(length, copied, markers);
    const std::size_t pieces =
        use == PayloadUse::kCopy ? 1 : Framer::pieces_needed(piece_count, length, markers);

    Framer framer = markers == Markers::kOn ? framer_at(Crc::kOn, random.between(2, 127) * 4)
                                            : Framer(Crc::kOn, markers);
    GatherList out(arena, pieces);
    framer.frame(header, Pieces(memory.begin(), memory.end()), use, out);
    ASSERT_LE(out.arena_used(), arena);
    ASSERT_LE(out.pieces().size(), pieces);
  }
}

}  // namespace
}  // namespace iwarp::mpa::test
