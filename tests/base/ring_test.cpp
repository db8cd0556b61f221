#include "iwarp/base/ring.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace iwarp {
namespace {

TEST(Ring, HasAPowerOfTwoOfPlaces) {
  EXPECT_EQ(Ring<int>(0).size(), 1U);
  EXPECT_EQ(Ring<int>(1).size(), 1U);
  EXPECT_EQ(Ring<int>(5).size(), 8U);
  EXPECT_EQ(Ring<int>(8).size(), 8U);
}

TEST(Ring, NamesAsManyPositionsInARowAsThereArePlaces) {
  Ring<std::uint32_t> ring(8);
  for (const std::uint32_t first : {0U, 5U, 0xFFFFFFFCU}) {  // across the end of 2^32, too
    for (std::uint32_t i = 0; i < 8; ++i) ring[first + i] = i;
    std::set<std::size_t> places;
    for (std::uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(ring[first + i], i);
      places.insert(ring.place(first + i));
    }
    EXPECT_EQ(places.size(), 8U);
    EXPECT_LT(*places.rbegin(), ring.size());
  }
}

TEST(RingOfLists, KeepsListsApart) {
  const RingOfLists<int> ring(3, 5);
  for (std::uint32_t i = 0; i < 4; ++i) {
    ASSERT_EQ(ring[i].size(), 5U);
    std::iota(ring[i].begin(), ring[i].end(), static_cast<int>(10 * i));
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ring[i].front(), static_cast<int>(10 * i));
    EXPECT_EQ(ring[i].back(), static_cast<int>(10 * i + 4));
    EXPECT_EQ(ring[i].data(), ring[0xFFFFFFFCU + i].data());
  }
}

TEST(RingOfLists, MayBeOfEmptyLists) { EXPECT_TRUE(RingOfLists<int>(4, 0)[7].empty()); }

TEST(RingPosition, CountsUpFreely) {
  RingPosition position;
  EXPECT_EQ(position.seen(), 0U);
  position.move_to(0xFFFFFFFFU);
  position.advance();
  EXPECT_EQ(position.own(), 0U);
  EXPECT_EQ(position.seen(), 0U);
}

}  // namespace
}  // namespace iwarp
