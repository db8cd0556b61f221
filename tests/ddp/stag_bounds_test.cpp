#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ddp/domain.hpp"
#include "iwarp/ddp/stag_table.hpp"

namespace iwarp::ddp {
namespace {

constexpr std::uint64_t kBase = 0x7F0000001000;
constexpr std::uint64_t kLength = 100;
constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
constexpr Rights kAll = Rights::kLocalWrite | Rights::kRemoteWrite | Rights::kRemoteRead |
                        Rights::kRemoteAtomic | Rights::kRemoteInvalidate;

class StagBounds : public testing::Test {
 protected:
  StagBounds() : memory_(kLength) { use(kBase, kLength); }

  void use(std::uint64_t base, std::uint64_t length, Rights rights = kAll) {
    stag_ = table_.enable({memory_.data(), TaggedOffset{base}, length, kPd, rights}).value();
  }
  std::optional<Error> refusal(std::uint64_t to, std::uint64_t length,
                               Rights wanted = Rights::kRemoteWrite, ProtectionDomainId pd = kPd) {
    const auto held = table_.pin(stag_, pd, wanted, TaggedOffset{to}, length);
    return held ? std::nullopt : std::optional(held.error());
  }

  std::vector<std::byte> memory_;
  StagTable table_{1};
  Stag stag_;
};

TEST_F(StagBounds, GiveTheOctetOfEachTaggedOffset) {
  for (std::uint64_t at = 0; at <= kLength; ++at) {
    const auto held = table_.pin(stag_, kPd, Rights::kNone, TaggedOffset{kBase + at}, kLength - at);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->memory(), memory_.data() + at);
  }
}

TEST_F(StagBounds, AreCheckedAtEveryEdge) {  // RFC 5041 §7.1
  EXPECT_EQ(refusal(kBase, kLength), std::nullopt);
  EXPECT_EQ(refusal(kBase, kLength + 1), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kBase - 1, 1), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kBase - 1, kLength + 1), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kBase + 1, kLength), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kBase + kLength - 1, 1), std::nullopt);
  EXPECT_EQ(refusal(kBase + kLength, 1), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kBase + kLength - 1, 2), Error::kBoundsViolation);
  EXPECT_EQ(refusal(0, 1), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kTop - 1, 1), Error::kBoundsViolation);
}

TEST_F(StagBounds, OfNothingEndWithTheBuffer) {
  EXPECT_EQ(refusal(kBase, 0), std::nullopt);
  EXPECT_EQ(refusal(kBase + kLength, 0), std::nullopt);
  EXPECT_EQ(refusal(kBase + kLength + 1, 0), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kBase - 1, 0), Error::kBoundsViolation);
}

TEST_F(StagBounds, ReportASumThatWraps) {
  EXPECT_EQ(refusal(kBase, kTop), Error::kTaggedOffsetWrap);
  EXPECT_EQ(refusal(kTop, 1), Error::kTaggedOffsetWrap);
  EXPECT_EQ(refusal(kTop - 9, 10), Error::kTaggedOffsetWrap);
  EXPECT_EQ(refusal(kTop - 10, 10), Error::kBoundsViolation) << "ends just below 2^64";
  EXPECT_EQ(refusal(1, kTop), Error::kTaggedOffsetWrap);
  EXPECT_EQ(refusal(0, kTop), Error::kBoundsViolation);
}

TEST_F(StagBounds, ReachNearlyToTheEndOfTheOffsets) {
  use(kTop - kLength, kLength);
  EXPECT_EQ(refusal(kTop - kLength, kLength), std::nullopt);
  EXPECT_EQ(refusal(kTop - 1, 1), std::nullopt);
  EXPECT_EQ(refusal(kTop - kLength, kLength + 1), Error::kTaggedOffsetWrap);
}

TEST_F(StagBounds, StartAtZeroForZeroBasedBuffers) {
  use(0, kLength);
  EXPECT_EQ(refusal(0, kLength), std::nullopt);
  EXPECT_EQ(refusal(kLength, 1), Error::kBoundsViolation);
  EXPECT_EQ(refusal(kTop, 0), Error::kBoundsViolation);
}

TEST_F(StagBounds, HoldNothingOfAnEmptyBuffer) {
  use(kBase, 0);
  EXPECT_EQ(refusal(kBase, 0), std::nullopt);
  EXPECT_EQ(refusal(kBase, 1), Error::kBoundsViolation);
}

TEST_F(StagBounds, CountFurtherThanFourGiB) {
  // Nothing is touched: the buffer is a claim only.
  use(0, std::uint64_t{1} << 40U);
  EXPECT_EQ(refusal((std::uint64_t{1} << 40U) - 5, 5), std::nullopt);
  EXPECT_EQ(refusal((std::uint64_t{1} << 40U) - 5, 6), Error::kBoundsViolation);
}

TEST_F(StagBounds, AreTheProtectionDomains) {
  EXPECT_EQ(refusal(kBase, 1, Rights::kRemoteWrite, ProtectionDomainId{4}),
            Error::kStagNotAssociated);
}

TEST_F(StagBounds, AreTheRights) {
  constexpr Rights kEach[] = {Rights::kLocalWrite, Rights::kRemoteWrite, Rights::kRemoteRead,
                              Rights::kRemoteAtomic, Rights::kRemoteInvalidate};
  for (const Rights granted : kEach) {
    use(kBase, kLength, granted);
    for (const Rights wanted : kEach) {
      EXPECT_EQ(refusal(kBase, 1, wanted),
                wanted == granted ? std::nullopt : std::optional(Error::kAccessViolation));
    }
    EXPECT_EQ(refusal(kBase, 1, Rights::kNone), std::nullopt) << "local read needs no right";
    EXPECT_EQ(refusal(kBase, 1, kAll), Error::kAccessViolation);
  }
}

// The nearest reason to the peer's mistake wins: whose buffer, what right, what range.
TEST_F(StagBounds, ReportTheFirstOfSeveralErrors) {
  use(kBase, kLength, Rights::kLocalWrite);
  const ProtectionDomainId foreign{4};
  EXPECT_EQ(refusal(0, kTop, Rights::kRemoteWrite, foreign), Error::kStagNotAssociated);
  EXPECT_EQ(refusal(1, kTop, Rights::kRemoteWrite), Error::kAccessViolation);
  EXPECT_EQ(refusal(1, kTop, Rights::kLocalWrite), Error::kTaggedOffsetWrap);
}

}  // namespace
}  // namespace iwarp::ddp
