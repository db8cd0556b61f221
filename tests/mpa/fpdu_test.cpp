#include "iwarp/mpa/fpdu.hpp"

#include <gtest/gtest.h>

namespace iwarp::mpa {
namespace {

TEST(FpduSize, IsAMultipleOfFourAndNeverBelowEight) {
  for (std::size_t length = 0; length <= kMaxUlpduLength; ++length) {
    const std::size_t size = unmarked_size(length);
    ASSERT_EQ(size % 4, 0U);
    ASSERT_GE(size, length + 6);
    ASSERT_LE(size, length + 9);
  }
  EXPECT_EQ(unmarked_size(0), 8U);
}

// Counts octet by octet.
std::size_t counted_markers(std::size_t phase, std::size_t unmarked) {
  std::size_t markers = 0;
  for (std::size_t at = phase; unmarked > 0; ++at) {
    if (at % kMarkerInterval == 0) {
      ++markers;
      at += kMarkerSize;
    }
    --unmarked;
  }
  return markers;
}

TEST(MarkerCount, AgreesWithCountingOctets) {
  for (std::size_t phase = 0; phase < kMarkerInterval; phase += 4) {
    for (std::size_t unmarked = 8; unmarked < 2200; unmarked += 4) {
      ASSERT_EQ(marker_count(octets_to_marker(phase), unmarked), counted_markers(phase, unmarked))
          << phase << ' ' << unmarked;
    }
  }
}

TEST(MarkerCount, LeavesAMarkerBehindTheCrcToTheNextFpdu) {
  EXPECT_EQ(marker_count(octets_to_marker(512 - 20), 20), 0U);
  EXPECT_EQ(marker_count(octets_to_marker(512 - 20), 24), 1U);
  EXPECT_EQ(marker_count(octets_to_marker(0), 20), 1U);
}

TEST(MarkerCount, IsGreatestForAnFpduThatBeginsWithAMarker) {
  for (const std::size_t length :
       {0UL, 1UL, 494UL, 498UL, 500UL, 502UL, 1442UL, 64768UL, 65535UL}) {
    const std::size_t most = max_marker_count(length, Markers::kOn);
    for (std::size_t phase = 0; phase < kMarkerInterval; phase += 4) {
      ASSERT_LE(marker_count(octets_to_marker(phase), unmarked_size(length)), most);
    }
    EXPECT_EQ(max_marker_count(length, Markers::kOff), 0U);
  }
}

TEST(FpduSize, GreatestOnTheWireIsThatOfTheLongestUlpduWithMarkers) {
  EXPECT_EQ(kMaxFpduWireSize, 65544 + 4 * counted_markers(0, 65544));
}

}  // namespace
}  // namespace iwarp::mpa
