#include "iwarp/ddp/stag_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <unordered_set>
#include <vector>

#include "ddp/domain.hpp"
#include "support/random.hpp"

namespace iwarp::ddp {
namespace {

using test::Random;

constexpr std::size_t kGenerations = 16;

class StagTableTest : public testing::Test {
 protected:
  Stag enable(std::uint32_t slot, std::uint8_t key = 0) {
    return table_.enable(
        slot, key, {memory_.data(), TaggedOffset{0}, memory_.size(), kPd, Rights::kLocalWrite});
  }
  Result<StagTable::Pin, Error> pin(Stag stag) {
    return table_.pin(stag, kPd, Rights::kLocalWrite, TaggedOffset{0}, 1);
  }
  // The error of a look-up; none if it succeeds.
  std::optional<Error> refusal(Stag stag) {
    const auto result = pin(stag);
    return result ? std::nullopt : std::optional(result.error());
  }

  std::array<std::byte, 64> memory_{};
  StagTable table_{42};
};

TEST_F(StagTableTest, FindsWhatWasEnabled) {
  const Stag stag = enable(5, 0x7B);
  EXPECT_EQ(stag.value() & 0xFFU, 0x7BU);
  EXPECT_EQ(table_.slot_of(stag), 5U);
  const auto held = pin(stag);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->memory(), memory_.data());
}

TEST_F(StagTableTest, AnswersAWrongKeyAndAMissingIndexAlike) {  // no oracle for a guessing peer
  const Stag stag = enable(5, 0x7B);
  for (unsigned key = 0; key < 256; ++key) {
    const Stag other{(stag.value() & 0xFFFFFF00U) | key};
    EXPECT_EQ(refusal(other), key == 0x7B ? std::nullopt : std::optional(Error::kInvalidStag));
  }
  for (unsigned bit = 8; bit < 32; ++bit) {
    EXPECT_EQ(refusal(Stag{stag.value() ^ (1U << bit)}), Error::kInvalidStag);
  }
}

TEST_F(StagTableTest, FindsNothingInAnEmptyTable) {
  Random random(1);
  EXPECT_EQ(refusal(Stag{0}), Error::kInvalidStag);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(refusal(Stag{random.word32()}), Error::kInvalidStag);
  }
}

TEST_F(StagTableTest, NeverNamesABufferZero) {
  for (std::uint32_t slot = 0; slot < 20000; ++slot) ASSERT_NE(enable(slot).value(), 0U);
  EXPECT_EQ(refusal(Stag{0}), Error::kInvalidStag);
  EXPECT_FALSE(table_.disable(Stag{0}));
}

TEST_F(StagTableTest, EndsAnStagOnce) {
  const Stag stag = enable(5);
  EXPECT_TRUE(table_.disable(stag));
  EXPECT_EQ(refusal(stag), Error::kInvalidStag);
  EXPECT_FALSE(table_.disable(stag));
}

TEST_F(StagTableTest, DoesNotEndAnotherStagOfTheSameSlot) {
  const Stag old = enable(5);
  ASSERT_TRUE(table_.disable(old));
  const Stag current = enable(5);
  EXPECT_FALSE(table_.disable(old));
  EXPECT_FALSE(table_.disable(Stag{current.value() ^ 1U}));
  EXPECT_FALSE(table_.disable(Stag{0xFFFFFFFF}));
  EXPECT_EQ(refusal(current), std::nullopt);
}

TEST_F(StagTableTest, IsIdleOnceTheLastPinIsGone) {
  const Stag stag = enable(5);
  EXPECT_TRUE(table_.idle(5));
  {
    auto first = pin(stag);
    EXPECT_FALSE(table_.idle(5));
    {
      const auto second = pin(stag);
      EXPECT_TRUE(table_.disable(stag));
      EXPECT_FALSE(table_.idle(5));
    }
    EXPECT_FALSE(table_.idle(5));
  }
  EXPECT_TRUE(table_.idle(5));
  EXPECT_TRUE(table_.idle(6)) << "a slot that was never used";
  EXPECT_TRUE(table_.idle(StagTable::kMaxSlots - 1));
}

TEST_F(StagTableTest, DoesNotKeepASlotBusyByARefusedLookUp) {
  const Stag stag = enable(5);
  EXPECT_TRUE(refusal(Stag{stag.value() ^ 1U}));
  EXPECT_FALSE(table_.pin(stag, kPd, Rights::kRemoteRead, TaggedOffset{0}, 1));
  EXPECT_FALSE(table_.pin(stag, kPd, Rights::kLocalWrite, TaggedOffset{0}, 65));
  EXPECT_TRUE(table_.idle(5));
}

TEST_F(StagTableTest, MovesAPinWithoutReleasingIt) {
  const Stag stag = enable(5);
  StagTable::Pin kept;
  {
    auto held = std::move(pin(stag)).value();
    StagTable::Pin moved(std::move(held));
    kept = std::move(moved);
  }
  EXPECT_EQ(kept.memory(), memory_.data());
  EXPECT_FALSE(table_.idle(5));
  kept = StagTable::Pin();
  EXPECT_TRUE(table_.idle(5));
}

TEST_F(StagTableTest, BringsAnOldStagBackLate) {
  std::set<Stag> seen;
  for (std::size_t i = 0; i < kGenerations; ++i) {
    const Stag stag = enable(5, 9);
    EXPECT_TRUE(seen.insert(stag).second) << "came back after " << i;
    for (const Stag old : seen) {
      EXPECT_EQ(refusal(old), old == stag ? std::nullopt : std::optional(Error::kInvalidStag));
    }
    ASSERT_TRUE(table_.disable(stag));
  }
}

TEST_F(StagTableTest, GivesEachOfAHundredThousandSlotsAnStagOfItsOwn) {
  constexpr std::uint32_t kSlots = 100000;
  std::unordered_set<Stag> stags;
  std::vector<Stag> by_slot;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    by_slot.push_back(enable(slot));
    ASSERT_TRUE(stags.insert(by_slot.back()).second);
  }
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    ASSERT_EQ(table_.slot_of(by_slot[slot]), slot);
    ASSERT_EQ(refusal(by_slot[slot]), std::nullopt);
  }
}

TEST_F(StagTableTest, UsesTheLastSlot) {
  const Stag stag = enable(StagTable::kMaxSlots - 1, 0xFF);
  EXPECT_EQ(table_.slot_of(stag), StagTable::kMaxSlots - 1);
  EXPECT_EQ(refusal(stag), std::nullopt);
}

// A permutation of 24 bits: every generation of every slot of a sample has an index of its own.
TEST_F(StagTableTest, PermutesIndices) {
  std::unordered_set<std::uint32_t> indices;
  for (std::uint32_t slot = 0; slot < 4000; ++slot) {
    for (std::size_t generation = 0; generation < kGenerations; ++generation) {
      const Stag stag = enable(slot * 257 % StagTable::kMaxSlots, 1);
      ASSERT_TRUE(indices.insert(stag.value() >> 8U).second);
      ASSERT_TRUE(table_.disable(stag));
    }
  }
}

TEST_F(StagTableTest, MapsEveryStagToSomeSlot) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_LT(table_.slot_of(Stag{random.word32()}), StagTable::kMaxSlots);
  }
}

TEST_F(StagTableTest, DoesNotBetrayTheNextStag) {  // RFC 5042 §6.2
  std::set<std::uint32_t> steps;
  Stag last = enable(0);
  for (std::uint32_t slot = 1; slot <= 1000; ++slot) {
    const Stag stag = enable(slot);
    steps.insert((stag.value() >> 8U) - (last.value() >> 8U));
    last = stag;
  }
  EXPECT_GT(steps.size(), 900U) << "neighbours differ by a few steps only";
}

TEST(StagTable, HandsOutOtherStagsUnderAnotherSecret) {
  StagTable one(1);
  StagTable two(2);
  unsigned equal = 0;
  for (std::uint32_t slot = 0; slot < 1000; ++slot) {
    if (one.enable(slot, 0, {}) == two.enable(slot, 0, {})) ++equal;
  }
  EXPECT_LE(equal, 2U);
}

}  // namespace
}  // namespace iwarp::ddp
