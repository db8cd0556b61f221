#include "iwarp/ddp/segmenter.hpp"

#include <gtest/gtest.h>

#include "iwarp/ddp/header.hpp"
#include "support/random.hpp"

namespace iwarp::ddp {
namespace {

TEST(SegmentPayload, GivesTheUntaggedExampleOfRfc5041Section52) {
  EXPECT_EQ(segment_payload(1500, kUntaggedHeaderSize, 2048), 1482U);
  EXPECT_EQ(segment_payload(1500, kUntaggedHeaderSize, 2048 - 1482), 566U);
}

TEST(SegmentPayload, GivesTheTaggedExampleOfRfc5041Section52) {
  EXPECT_EQ(segment_payload(1500, kTaggedHeaderSize, 2048), 1486U);
  EXPECT_EQ(segment_payload(1500, kTaggedHeaderSize, 2048 - 1486), 562U);
}

TEST(SegmentPayload, IsNothingOfAnEmptyMessage) {
  EXPECT_EQ(segment_payload(128, kTaggedHeaderSize, 0), 0U);
}

TEST(SegmentPayload, FillsTheMulpduExactly) {
  EXPECT_EQ(segment_payload(128, kTaggedHeaderSize, 114), 114U);
  EXPECT_EQ(segment_payload(128, kTaggedHeaderSize, 115), 114U);
  EXPECT_EQ(segment_payload(128, kTaggedHeaderSize, 113), 113U);
}

TEST(SegmentPayload, DoesNotOverflowForTheLongestMessage) {
  EXPECT_EQ(segment_payload(64768, kTaggedHeaderSize, 0xFFFFFFFFU), 64754U);
}

TEST(SegmentPayload, CoversAMessageExactlyOnce) {
  test::Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t header = random.one_in(2) ? kTaggedHeaderSize : kUntaggedHeaderSize;
    std::uint64_t remaining = random.below(100000);
    const std::uint64_t most = remaining / (128 - header) + 1;
    std::uint64_t segments = 0;
    while (remaining > 0) {
      const std::size_t mulpdu = random.between(128, 2000);
      const std::uint32_t payload = segment_payload(mulpdu, header, remaining);
      ASSERT_GT(payload, 0U);
      ASSERT_LE(payload + header, mulpdu);
      ASSERT_LE(payload, remaining);
      remaining -= payload;
      ++segments;
    }
    ASSERT_LE(segments, most);
  }
}

}  // namespace
}  // namespace iwarp::ddp
