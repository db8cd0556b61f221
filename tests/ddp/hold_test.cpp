#include "iwarp/ddp/hold.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "ddp/domain.hpp"

namespace iwarp::ddp {
namespace {

constexpr std::uint64_t kHeldBase = 0x1000;
constexpr std::uint64_t kHeldLength = 64;

class Holding : public testing::Test {
 protected:
  [[nodiscard]] TaggedBuffer buffer(Registration parent = {}) {
    return {memory_.data(),
            TaggedOffset{kHeldBase},
            memory_.size(),
            kPd,
            Rights::kRemoteWrite,
            kAnyStream,
            parent};
  }
  Stag enable() { return table_.enable(buffer()).value(); }
  Result<std::byte*, Error> reach(Stag stag, std::uint64_t to = kHeldBase, std::uint64_t length = 1,
                                  Rights wanted = Rights::kRemoteWrite) {
    return hold_.reach(stag, wanted, TaggedOffset{to}, length);
  }
  std::optional<Error> refusal(Stag stag, std::uint64_t to = kHeldBase, std::uint64_t length = 1,
                               Rights wanted = Rights::kRemoteWrite) {
    const auto memory = reach(stag, to, length, wanted);
    return memory ? std::nullopt : std::optional(memory.error());
  }

  std::array<std::byte, kHeldLength> memory_{};
  StagTable table_{3};
  Hold hold_{table_, kPd};
};

TEST_F(Holding, ReachesEachOctetOfTheBufferThatItHolds) {
  const Stag stag = enable();
  for (std::uint64_t at = 0; at < kHeldLength; ++at) {
    const auto memory = reach(stag, kHeldBase + at, kHeldLength - at);
    ASSERT_TRUE(memory);
    EXPECT_EQ(*memory, memory_.data() + at);
  }
}

TEST_F(Holding, ChecksAsAPinDoesEachTime) {
  const Stag stag = enable();
  ASSERT_TRUE(reach(stag));
  EXPECT_EQ(refusal(stag, kHeldBase - 1), Error::kBoundsViolation);
  EXPECT_EQ(refusal(stag, kHeldBase + kHeldLength), Error::kBoundsViolation);
  EXPECT_EQ(refusal(stag, kHeldBase + 1, kHeldLength), Error::kBoundsViolation);
  EXPECT_EQ(refusal(stag, UINT64_MAX, 2), Error::kTaggedOffsetWrap);
  EXPECT_EQ(refusal(stag, kHeldBase, 1, Rights::kRemoteRead), Error::kAccessViolation);
  EXPECT_EQ(refusal(Stag{stag.value() ^ 1U}), Error::kInvalidStag);
  EXPECT_EQ(refusal(stag), std::nullopt);
}

TEST_F(Holding, EndsWithTheStag) {
  const Stag stag = enable();
  ASSERT_TRUE(reach(stag));
  ASSERT_TRUE(table_.disable(stag));
  EXPECT_EQ(refusal(stag), Error::kInvalidStag);
}

// A slot that names nothing must not pass for what STag 0 names.
TEST_F(Holding, IsNotReachedByStagZeroOnceItHasEnded) {
  const Stag stag = enable();
  ASSERT_TRUE(reach(stag));
  EXPECT_EQ(refusal(Stag{0}), Error::kInvalidStag);
  ASSERT_TRUE(reach(stag));
  ASSERT_TRUE(table_.disable(stag));
  EXPECT_EQ(refusal(Stag{0}), Error::kInvalidStag);
}

TEST_F(Holding, EndsWithTheBufferThatTheWindowIsOn) {
  const Stag region = enable();
  const Stag window = table_.reserve(KeyChoice::kOwner).value();
  ASSERT_EQ(table_.activate(window, buffer(table_.registration_of(region))), Activation::kDone);
  ASSERT_TRUE(reach(window));
  ASSERT_TRUE(table_.disable(region));
  EXPECT_EQ(refusal(window), Error::kInvalidStag);
}

TEST_F(Holding, KeepsTheMemoryUntilItLetsGo) {
  const Stag stag = enable();
  ASSERT_TRUE(reach(stag));
  ASSERT_TRUE(table_.disable(stag));
  EXPECT_FALSE(table_.quiet(stag));
  hold_.let_go();
  EXPECT_TRUE(table_.quiet(stag));
  EXPECT_TRUE(table_.idle(stag));
}

TEST_F(Holding, IsOfOneBufferAtATime) {
  const Stag first = enable();
  const Stag second = enable();
  ASSERT_TRUE(reach(first));
  ASSERT_TRUE(reach(second));
  ASSERT_TRUE(table_.disable(first));
  EXPECT_TRUE(table_.idle(first));
  ASSERT_TRUE(table_.disable(second));
  EXPECT_FALSE(table_.idle(second));
}

TEST_F(Holding, OfWhatCannotBeReachedLeavesNoTrace) {
  const Stag stag = enable();
  ASSERT_EQ(refusal(stag, kHeldBase - 1), Error::kBoundsViolation);
  EXPECT_TRUE(table_.idle(stag));
}

TEST_F(Holding, DoesNotReachAnotherDomainsBuffer) {
  TaggedBuffer other = buffer();
  other.pd = ProtectionDomainId{kPd.value() + 1U};
  const Stag foreign = table_.enable(other).value();
  ASSERT_TRUE(reach(enable()));
  EXPECT_EQ(refusal(foreign), Error::kStagNotAssociated);
}

}  // namespace
}  // namespace iwarp::ddp
