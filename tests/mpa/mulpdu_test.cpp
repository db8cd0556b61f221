#include "iwarp/mpa/mulpdu.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace iwarp::mpa
