#include "iwarp/mpa/mulpdu.hpp"

#include <gtest/gtest.h>

#include "iwarp/mpa/framer.hpp"

namespace iwarp::mpa {
namespace {

static_assert(mulpdu(1448, Markers::kOff) == 1442);
static_assert(mulpdu(1460, Markers::kOff) == 1454);
static_assert(mulpdu(1460, Markers::kOn) == 1442);

TEST(Mulpdu, IsTheFormulaOfTheRfcBetweenItsBounds) {
  EXPECT_EQ(mulpdu(1461, Markers::kOff), 1454U);
  EXPECT_EQ(mulpdu(1463, Markers::kOff), 1454U);
  EXPECT_EQ(mulpdu(512, Markers::kOn), 502U);
  EXPECT_EQ(mulpdu(516, Markers::kOn), 502U);
  EXPECT_EQ(mulpdu(8948, Markers::kOn), 8948U - (6 + 4 * 18));
}

TEST(Mulpdu, NeverFallsBelow128) {
  for (Markers markers : {Markers::kOff, Markers::kOn}) {
    for (std::size_t emss = 0; emss < 134; ++emss) EXPECT_EQ(mulpdu(emss, markers), 128U);
  }
}

TEST(Mulpdu, NeverExceeds64768) {
  EXPECT_EQ(mulpdu(65483, Markers::kOff), 64768U);
  EXPECT_EQ(mulpdu(65483, Markers::kOn), 64768U);
  EXPECT_EQ(mulpdu(1U << 20U, Markers::kOn), 64768U);
}

TEST(Mulpdu, FpduOfThatSizeFitsTheSegmentWhereverItBegins) {
  for (std::size_t emss = 144; emss <= 65535; emss += emss < 4000 ? 1 : 61) {
    ASSERT_LE(unmarked_size(mulpdu(emss, Markers::kOff)), emss);
    const std::size_t length = mulpdu(emss, Markers::kOn);
    const std::size_t markers = max_marker_count(length, Markers::kOn);
    ASSERT_LE(unmarked_size(length) + markers * kMarkerSize, emss) << emss;
  }
}

TEST(Mulpdu, WithoutMarkersWastesLessThanAWordOfTheSegment) {
  for (std::size_t emss = 144; emss <= 64770; ++emss) {
    ASSERT_GT(unmarked_size(mulpdu(emss, Markers::kOff)) + 4, emss) << emss;
  }
}

// ---- FPDUs larger than a segment ----

static_assert(largest_fpdu(Markers::kOff) == 64776);
static_assert(largest_fpdu(Markers::kOn) == 64776 + 4 * 128);

TEST(FillingUlpdu, IsThatOfTheWholeRoomIfOneFpduMayTakeIt) {
  EXPECT_EQ(filling_ulpdu(16384, 16384, kMinMulpdu, Markers::kOff), 16378U);
  EXPECT_EQ(filling_ulpdu(16384, 65536, kMinMulpdu, Markers::kOff), 16378U);
  EXPECT_EQ(filling_ulpdu(7 * 8948, 65536, kMinMulpdu, Markers::kOff), 7U * 8948 - 6);
  EXPECT_EQ(filling_ulpdu(16384, 16384, kMinMulpdu, Markers::kOn), mulpdu(16384, Markers::kOn));
}

TEST(FillingUlpdu, SharesTheRoomAmongAsFewAsPossible) {
  EXPECT_EQ(filling_ulpdu(45 * 1448, 65536, kMinMulpdu, Markers::kOff), 45U * 1448 / 2 - 6);
  EXPECT_EQ(filling_ulpdu(45 * 1448, 16384, kMinMulpdu, Markers::kOff),
            16292U - 6);  // 45 * 1448 / 4 is 16290
  EXPECT_EQ(filling_ulpdu(45 * 1448, 1448, kMinMulpdu, Markers::kOff), 1442U);
}

// The 44 that there would be of up to 1,500 octets would leave too little for the last.
TEST(FillingUlpdu, FitsASegmentWhereTheLastWouldBeShorterThanOne) {
  for (const Markers markers : {Markers::kOff, Markers::kOn}) {
    const std::size_t fitting = mulpdu(1448, markers);
    EXPECT_EQ(filling_ulpdu(45 * 1448, 1500, fitting, markers), fitting);
    EXPECT_EQ(filling_ulpdu(1000, 65536, fitting, markers), fitting);
    EXPECT_GT(filling_ulpdu(45 * 1448, 1600, fitting, markers), fitting);
    EXPECT_GT(filling_ulpdu(45 * 1448, 65536, fitting, markers), fitting);
  }
}

TEST(FillingUlpdu, IsWithinTheBoundsOfEveryMulpdu) {
  for (const Markers markers : {Markers::kOff, Markers::kOn}) {
    EXPECT_EQ(filling_ulpdu(0, 65536, kMinMulpdu, markers), 128U);
    EXPECT_EQ(filling_ulpdu(100, 65536, kMinMulpdu, markers), 128U);
    EXPECT_LE(filling_ulpdu(1U << 20U, 1U << 20U, kMinMulpdu, markers), 64768U);
    EXPECT_GT(filling_ulpdu(1U << 20U, 1U << 20U, kMinMulpdu, markers), 61000U);
  }
}

// One behind the other, none larger than allowed, until nothing is left: without Markers not an
// octet, and with them less than the smallest FPDU takes.
TEST(FillingUlpdu, FillsEveryRoomToItsEnd) {
  for (const Markers markers : {Markers::kOff, Markers::kOn}) {
    for (const std::size_t max_fpdu : {1448U, 3000U, 16384U, 40001U, 65536U}) {
      for (std::size_t room = 1448; room <= 65536; room += 1448 - room % 7 * 4) {
        std::size_t left = room / 4 * 4;
        const std::size_t most = std::min(max_fpdu, largest_fpdu(markers)) / 4 * 4;
        const std::size_t fpdus = (left + most - 1) / most;
        Framer framer(Crc::kOn, markers);
        framer.pass(room % 600);  // with Markers it begins somewhere
        std::size_t count = 0;
        for (; left >= 400; ++count) {
          const std::size_t size = framer.pass(filling_ulpdu(left, max_fpdu, kMinMulpdu, markers));
          ASSERT_LE(size, max_fpdu);
          ASSERT_LE(size, left) << room << " octets, FPDUs of up to " << max_fpdu;
          left -= size;
        }
        if (markers == Markers::kOff) {
          ASSERT_EQ(left, 0U) << room << " octets, FPDUs of up to " << max_fpdu;
          ASSERT_EQ(count, fpdus);
        }
      }
    }
  }
}

}  // namespace
}  // namespace iwarp::mpa
