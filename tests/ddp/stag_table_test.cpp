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

class StagTableTest : public testing::Test {
 protected:
  [[nodiscard]] TaggedBuffer buffer() {
    return {memory_.data(), TaggedOffset{0}, memory_.size(), kPd, Rights::kLocalWrite};
  }
  Stag enable() { return table_.enable(buffer()).value(); }
  void end(Stag stag) {
    EXPECT_TRUE(table_.disable(stag));
    table_.release(stag);
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
  const Stag stag = enable();
  const auto held = pin(stag);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->memory(), memory_.data());
}

TEST_F(StagTableTest, AnswersAWrongKeyAndAMissingIndexAlike) {  // no oracle for a guessing peer
  const Stag stag = enable();
  for (unsigned bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(refusal(Stag{stag.value() ^ (1U << bit)}), Error::kInvalidStag);
  }
  for (unsigned key = 1; key < 256; ++key) {
    EXPECT_EQ(refusal(Stag{stag.value() ^ key}), Error::kInvalidStag);
  }
  EXPECT_EQ(refusal(stag), std::nullopt);
}

TEST_F(StagTableTest, FindsNothingInAnEmptyTable) {
  Random random(1);
  EXPECT_EQ(refusal(Stag{0}), Error::kInvalidStag);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(refusal(Stag{random.word32()}), Error::kInvalidStag);
  }
}

TEST_F(StagTableTest, NamesNothingZero) {
  enable();
  EXPECT_EQ(refusal(Stag{0}), Error::kInvalidStag);
  EXPECT_FALSE(table_.disable(Stag{0}));
}

TEST_F(StagTableTest, EndsAnStagOnce) {
  const Stag stag = enable();
  EXPECT_TRUE(table_.disable(stag));
  EXPECT_EQ(refusal(stag), Error::kInvalidStag);
  EXPECT_FALSE(table_.disable(stag));
}

TEST_F(StagTableTest, DoesNotEndAnotherStag) {
  const Stag old = enable();
  end(old);
  const Stag current = enable();
  EXPECT_FALSE(table_.disable(old));
  EXPECT_FALSE(table_.disable(Stag{current.value() ^ 1U}));
  EXPECT_FALSE(table_.disable(Stag{0xFFFFFFFF}));
  table_.end(old);
  table_.release(old);
  EXPECT_EQ(refusal(current), std::nullopt);
}

// Whatever a stream has found before: it gets what is in force now.
TEST_F(StagTableTest, FindsAgainOnlyWhatIsInForce) {
  StagTable::Recent recent;
  std::array<std::byte, 64> other{};
  const Stag first = enable();
  TaggedBuffer elsewhere = buffer();
  elsewhere.memory = other.data();
  const Stag second = table_.enable(elsewhere).value();
  const auto memory = [&](Stag stag) -> std::byte* {
    const auto held = table_.pin(stag, kPd, Rights::kLocalWrite, TaggedOffset{0}, 1, recent);
    return held ? held->memory() : nullptr;
  };
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(memory(first), memory_.data());
    EXPECT_EQ(memory(first), memory_.data());
    EXPECT_EQ(memory(second), other.data());
    EXPECT_EQ(memory(Stag{second.value() ^ 1U}), nullptr);
    EXPECT_EQ(memory(Stag{0}), nullptr);
  }
  EXPECT_EQ(memory(first), memory_.data());
  end(first);
  EXPECT_EQ(memory(first), nullptr);
  EXPECT_EQ(memory(Stag{0}), nullptr);
}

// The slot that was found last has another STag now.
TEST_F(StagTableTest, FindsNothingInASlotThatIsAnothersNow) {
  for (const bool old_first : {true, false}) {
    StagTable::Recent recent;
    const auto found = [&](Stag stag) {
      return bool(table_.pin(stag, kPd, Rights::kLocalWrite, TaggedOffset{0}, 1, recent));
    };
    const Stag old = enable();
    EXPECT_TRUE(found(old));
    end(old);
    const Stag now = enable();
    if (old_first) {
      EXPECT_FALSE(found(old));
    }
    EXPECT_TRUE(found(now));
    EXPECT_FALSE(found(old));
    end(now);
  }
}

TEST_F(StagTableTest, FindsAKeyOfItsOwnersOnlyWhileItIsInForce) {
  StagTable::Recent recent;
  const Stag stag = table_.reserve(KeyChoice::kOwner).value();
  const Stag other{stag.value() ^ 1U};
  const auto error = [&](Stag named) -> std::optional<Error> {
    const auto held = table_.pin(named, kPd, Rights::kLocalWrite, TaggedOffset{0}, 1, recent);
    return held ? std::nullopt : std::optional(held.error());
  };
  for (const Stag now : {stag, other, stag}) {
    const Stag before{now.value() ^ 1U};
    ASSERT_EQ(table_.activate(now, buffer()), Activation::kDone);
    EXPECT_EQ(error(now), std::nullopt);
    EXPECT_EQ(error(before), Error::kInvalidStag);
    EXPECT_EQ(error(now), std::nullopt);
    table_.end(now);
    EXPECT_EQ(error(now), Error::kInvalidStag);
  }
}

TEST_F(StagTableTest, IsIdleOnceTheLastPinIsGone) {
  const Stag stag = enable();
  EXPECT_TRUE(table_.idle(stag));
  {
    auto first = pin(stag);
    EXPECT_FALSE(table_.idle(stag));
    {
      const auto second = pin(stag);
      EXPECT_TRUE(table_.disable(stag));
      EXPECT_FALSE(table_.idle(stag));
    }
    EXPECT_FALSE(table_.idle(stag));
  }
  EXPECT_TRUE(table_.idle(stag));
  EXPECT_TRUE(table_.idle(Stag{stag.value() ^ 0x100U})) << "which names nothing";
}

TEST_F(StagTableTest, IsNotKeptBusyByARefusedLookUp) {
  const Stag stag = enable();
  EXPECT_TRUE(refusal(Stag{stag.value() ^ 1U}));
  EXPECT_FALSE(table_.pin(stag, kPd, Rights::kRemoteRead, TaggedOffset{0}, 1));
  EXPECT_FALSE(table_.pin(stag, kPd, Rights::kLocalWrite, TaggedOffset{0}, 65));
  EXPECT_TRUE(table_.idle(stag));
}

TEST_F(StagTableTest, MovesAPinWithoutReleasingIt) {
  const Stag stag = enable();
  StagTable::Pin kept;
  {
    auto held = std::move(pin(stag)).value();
    StagTable::Pin moved(std::move(held));
    kept = std::move(moved);
  }
  EXPECT_EQ(kept.memory(), memory_.data());
  EXPECT_FALSE(table_.idle(stag));
  kept = StagTable::Pin();
  EXPECT_TRUE(table_.idle(stag));
}

TEST_F(StagTableTest, IsQuietWhileOnlyADeviceReads) {
  const Stag stag = enable();
  auto copy = std::move(pin(stag)).value();
  auto lent = std::move(pin(stag)).value();
  EXPECT_TRUE(table_.disable(stag));
  EXPECT_FALSE(table_.quiet(stag));
  lent.lend();
  lent.lend();  // once is enough
  EXPECT_FALSE(table_.quiet(stag));
  copy = StagTable::Pin();
  EXPECT_TRUE(table_.quiet(stag));
  EXPECT_FALSE(table_.idle(stag));
  copy = std::move(lent);
  copy = StagTable::Pin();
  lent = StagTable::Pin();
  EXPECT_TRUE(table_.idle(stag));
}

// What was lent by the last owner of a slot is not the next one's to wait for.
TEST_F(StagTableTest, GivesNobodyASlotThatIsStillLent) {
  const Stag stag = enable();
  auto lent = std::move(pin(stag)).value();
  lent.lend();
  end(stag);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(table_.idle(enable()));
}

TEST_F(StagTableTest, HasAsManyAsItSays) {
  std::vector<Stag> stags;
  for (std::uint32_t i = 0; i < StagTable::kMaxStags; ++i) stags.push_back(enable());
  EXPECT_FALSE(table_.enable(buffer()));
  EXPECT_FALSE(table_.reserve(KeyChoice::kOwner));
  const std::unordered_set<Stag> distinct(stags.begin(), stags.end());
  EXPECT_EQ(distinct.size(), stags.size());
  for (const Stag stag : stags) ASSERT_EQ(refusal(stag), std::nullopt);
  end(stags.front());
  EXPECT_TRUE(table_.enable(buffer()));
}

// The values that the order passes over, since their homes are taken, come again the sooner: at
// most every fourth, wherever the STags are that stay, and whatever else is set aside meanwhile.
TEST_F(StagTableTest, PassesOverFewValues) {
  constexpr std::uint64_t kSpan = std::uint64_t{1} << 22U;
  const StagNames names(42);
  Random random(11);
  std::vector<Stag> staying;
  for (int i = 0; i < 3000; ++i) {
    const Stag stag = enable();
    if (i < 500 || random.one_in(4))
      staying.push_back(stag);
    else
      end(stag);
  }
  std::uint64_t last = names.place_of(enable());
  std::uint64_t places = 0;
  std::uint64_t handed_out = 0;
  while (places < kSpan) {
    const Stag stag = enable();
    if (random.one_in(10)) table_.release(table_.reserve(KeyChoice::kOwner).value());
    const std::uint64_t now = names.place_of(stag);
    places += (now + StagNames::kTablePlaces - last) % StagNames::kTablePlaces;
    last = now;
    ++handed_out;
    end(stag);
  }
  EXPECT_GE(handed_out * 4, places * 3);
  EXPECT_GE(StagNames::kTableNames / 4 * 3, StagTable::kLeastBetween);
  EXPECT_GE(StagNames::kOwnerPlaces / 4 * 3, StagTable::kLeastBetweenOwned);
}

TEST_F(StagTableTest, FindsAnOldStagNotAfterMillionsOfOthers) {
  const Stag late = enable();
  end(late);
  for (int i = 0; i < 1'000'000; ++i) {
    const Stag stag = enable();
    ASSERT_NE(stag, late) << i;
    end(stag);
  }
  EXPECT_EQ(refusal(late), Error::kInvalidStag);
}

TEST_F(StagTableTest, DoesNotBetrayTheNextStag) {  // RFC 5042 §6.1.1
  std::set<std::uint32_t> steps;
  Stag last = enable();
  for (int i = 0; i < 1000; ++i) {
    const Stag stag = enable();
    steps.insert(stag.value() - last.value());
    last = stag;
  }
  EXPECT_GT(steps.size(), 990U) << "neighbours differ by a few steps only";
}

TEST(StagTable, HandsOutOtherStagsUnderAnotherSecret) {
  StagTable one(1);
  StagTable two(2);
  unsigned equal = 0;
  for (int i = 0; i < 1000; ++i) {
    if (one.enable({}) == two.enable({})) ++equal;
  }
  EXPECT_LE(equal, 2U);
}

}  // namespace
}  // namespace iwarp::ddp
