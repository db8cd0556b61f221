#include "iwarp/mpa/deframer.hpp"

#include <gtest/gtest.h>

#include "mpa/helpers.hpp"
#include "mpa/naive_framer.hpp"

namespace iwarp::mpa::test {
namespace {

Bytes framed(Crc crc, Markers markers, ConstBytes ulpdu) {
  NaiveFramer naive(crc, markers);
  naive.frame(ulpdu);
  return naive.stream();
}

TEST(Deframer, TakesEveryLengthThereIs) {
  for (Markers markers : kMarkersChoices) {
    for (const std::size_t length :
         {0UL, 1UL, 2UL, 3UL, 4UL, 495UL, 502UL, 506UL, 510UL, 64768UL, 65535UL}) {
      const Bytes ulpdu = pattern(length);
      const ExactBuffer wire(framed(Crc::kOn, markers, ulpdu));
      Deframer deframer(Crc::kOn, markers);
      const Deframed result = deframer.next(wire.span());
      const auto* fpdu = std::get_if<Fpdu>(&result);
      ASSERT_NE(fpdu, nullptr) << length;
      EXPECT_EQ(to_bytes(fpdu->ulpdu), ulpdu);
      EXPECT_EQ(fpdu->wire_size, wire.span().size());
    }
  }
}

TEST(Deframer, LongestFpduWithMarkersHasTheGreatestWireSize) {
  EXPECT_EQ(framed(Crc::kOff, Markers::kOn, pattern(65535)).size(), kMaxFpduWireSize);
}

TEST(Deframer, AsksForTheLengthFieldFirst) {
  Deframer plain(Crc::kOn, Markers::kOff), marked(Crc::kOn, Markers::kOn);
  for (std::size_t size = 0; size < 6; ++size) {
    const ExactBuffer bytes{Bytes(size)};
    const Deframed at_marker = marked.next(bytes.span());
    EXPECT_EQ(std::get<NeedMore>(at_marker).wire_size, 6U);
    const Deframed at_length = plain.next(bytes.span());
    EXPECT_EQ(std::get<NeedMore>(at_length).wire_size, size < 2 ? 2U : 8U);
  }
}

TEST(Deframer, TellsTheWholeSizeOnceItSeesTheLength) {
  for (Markers markers : kMarkersChoices) {
    const Bytes wire = framed(Crc::kOn, markers, pattern(1300));
    Deframer deframer(Crc::kOn, markers);
    const std::size_t visible = markers == Markers::kOn ? 6 : 2;
    for (std::size_t size = visible; size < wire.size(); ++size) {
      const ExactBuffer cut(ConstBytes(wire).first(size));
      const Deframed result = deframer.next(cut.span());
      ASSERT_EQ(std::get<NeedMore>(result).wire_size, wire.size()) << size;
      ASSERT_EQ(to_bytes(cut.span()), to_bytes(ConstBytes(wire).first(size)));
    }
  }
}

TEST(Deframer, LeavesWhatIsBehindTheFpduAlone) {
  for (Markers markers : kMarkersChoices) {
    Bytes wire = framed(Crc::kOn, markers, pattern(1300));
    const std::size_t size = wire.size();
    const Bytes behind = pattern(700, 9);
    wire.insert(wire.end(), behind.begin(), behind.end());
    Deframer deframer(Crc::kOn, markers);
    const Deframed result = deframer.next(wire);
    EXPECT_EQ(std::get<Fpdu>(result).wire_size, size);
    EXPECT_EQ(to_bytes(ConstBytes(wire).subspan(size)), behind);
  }
}

TEST(Deframer, DetectsEverySingleBitFlip) {
  const Bytes ulpdu = pattern(1030);
  for (Markers markers : kMarkersChoices) {
    Bytes wire = framed(Crc::kOn, markers, ulpdu);
    const std::size_t bits = wire.size() * 8;
    wire.resize(kMaxFpduWireSize + wire.size());  // a flipped length finds enough to read
    for (std::size_t bit = 0; bit < bits; ++bit) {
      const auto mask = static_cast<std::byte>(1U << (bit % 8));
      wire[bit / 8] ^= mask;
      Deframer deframer(Crc::kOn, markers);
      const Deframed result = deframer.next(wire);
      ASSERT_EQ(std::get<Error>(result), Error::kCrcMismatch) << bit;
      wire[bit / 8] ^= mask;
    }
  }
}

TEST(Deframer, DoesNotSqueezeWhatFailedItsCrc) {
  Bytes wire = framed(Crc::kOn, Markers::kOn, pattern(1030));
  wire[700] ^= std::byte{1};
  const Bytes before = wire;
  Deframer deframer(Crc::kOn, Markers::kOn);
  EXPECT_EQ(std::get<Error>(deframer.next(wire)), Error::kCrcMismatch);
  EXPECT_EQ(wire, before);
}

TEST(Deframer, RepeatsItsErrorForever) {
  Bytes bad = framed(Crc::kOn, Markers::kOff, pattern(20));
  bad.back() ^= std::byte{1};
  Deframer deframer(Crc::kOn, Markers::kOff);
  EXPECT_EQ(std::get<Error>(deframer.next(bad)), Error::kCrcMismatch);
  Bytes good = framed(Crc::kOn, Markers::kOff, pattern(20));
  EXPECT_EQ(std::get<Error>(deframer.next(good)), Error::kCrcMismatch);
  EXPECT_EQ(std::get<Error>(deframer.next({})), Error::kCrcMismatch);
}

TEST(Deframer, IgnoresTheCrcFieldWhenCrcIsOff) {
  NaiveFramer naive(Crc::kOff, Markers::kOff);
  naive.unchecked_crc = 0xDEADBEEFU;
  naive.frame(pattern(21));
  Bytes wire = naive.stream();
  Deframer deframer(Crc::kOff, Markers::kOff);
  EXPECT_EQ(to_bytes(std::get<Fpdu>(deframer.next(wire)).ulpdu), pattern(21));
}

TEST(Deframer, IgnoresTheValueOfThePad) {
  for (Crc crc : kCrcs) {
    NaiveFramer naive(crc, Markers::kOff);
    naive.pad_octet = std::byte{0xA5};
    naive.frame(pattern(19));
    Bytes wire = naive.stream();
    Deframer deframer(crc, Markers::kOff);
    EXPECT_EQ(to_bytes(std::get<Fpdu>(deframer.next(wire)).ulpdu), pattern(19));
  }
}

TEST(Deframer, IgnoresReservedBitsOfMarkers) {
  for (Crc crc : kCrcs) {
    for (unsigned low_bits = 1; low_bits <= 3; ++low_bits) {
      NaiveFramer naive(crc, Markers::kOn);
      naive.marker_reserved = 0xFFFF;
      naive.fpduptr_flip = static_cast<std::uint16_t>(low_bits);
      naive.frame(pattern(1600));
      Bytes wire = naive.stream();
      Deframer deframer(crc, Markers::kOn);
      EXPECT_EQ(to_bytes(std::get<Fpdu>(deframer.next(wire)).ulpdu), pattern(1600));
    }
  }
}

TEST(Deframer, DetectsEveryBitOfFpduptrThatIsWrong) {
  for (Crc crc : kCrcs) {
    for (unsigned bit = 2; bit < 16; ++bit) {
      NaiveFramer naive(crc, Markers::kOn);
      naive.fpduptr_flip = static_cast<std::uint16_t>(1U << bit);
      naive.frame(pattern(40));
      Bytes wire = naive.stream();
      Deframer deframer(crc, Markers::kOn);
      EXPECT_EQ(std::get<Error>(deframer.next(wire)), Error::kMarkerMismatch);
      EXPECT_EQ(std::get<Error>(deframer.next(wire)), Error::kMarkerMismatch);
    }
  }
}

TEST(Deframer, ChecksEachOfSeveralMarkers) {
  for (std::size_t wrong : {0U, 512U, 1024U, 1536U}) {
    Bytes wire = framed(Crc::kOff, Markers::kOn, pattern(1700));
    wire[wrong + 3] ^= std::byte{4};
    Deframer deframer(Crc::kOff, Markers::kOn);
    EXPECT_EQ(std::get<Error>(deframer.next(wire)), Error::kMarkerMismatch) << wrong;
  }
}

TEST(Deframer, MissesMarkersThatThePeerDidNotSend) {
  Bytes wire = framed(Crc::kOff, Markers::kOff, pattern(2000));
  Deframer deframer(Crc::kOff, Markers::kOn);
  const Deframed result = deframer.next(wire);
  EXPECT_TRUE(std::holds_alternative<Error>(result) || std::holds_alternative<NeedMore>(result));
}

TEST(Deframer, CopyIsASnapshot) {
  NaiveFramer naive(Crc::kOn, Markers::kOn);
  naive.frame(pattern(300));
  naive.frame(pattern(400));
  Bytes wire = naive.stream();
  Deframer deframer(Crc::kOn, Markers::kOn);
  const std::size_t first = std::get<Fpdu>(deframer.next(wire)).wire_size;
  const Deframer snapshot = deframer;
  Bytes broken(wire.begin() + static_cast<std::ptrdiff_t>(first), wire.end());
  const Bytes rest = broken;
  broken.back() ^= std::byte{1};
  EXPECT_EQ(std::get<Error>(deframer.next(broken)), Error::kCrcMismatch);
  deframer = snapshot;
  Bytes again = rest;
  EXPECT_EQ(to_bytes(std::get<Fpdu>(deframer.next(again)).ulpdu), pattern(400));
}

}  // namespace
}  // namespace iwarp::mpa::test
