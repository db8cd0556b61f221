#include "iwarp/ddp/stag_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <vector>

#include "support/random.hpp"

namespace iwarp::ddp {
namespace {

using test::Random;

class StagNamesTest : public testing::TestWithParam<KeyChoice> {
 protected:
  [[nodiscard]] std::uint32_t places() const {
    return GetParam() == KeyChoice::kTable ? StagNames::kTablePlaces : StagNames::kOwnerPlaces;
  }
  StagNames names_{42};
};

// Each index once: the first round takes all of them, and the places lead back.
TEST_P(StagNamesTest, TakeAllPlacesBeforeOneComesAgain) {
  std::vector<bool> seen(StagNames::kPlaces);
  for (std::uint32_t n = 0; n < places(); ++n) {
    const Stag stag = names_.name(GetParam(), n);
    const std::uint32_t index = stag.value() >> 8U;
    ASSERT_FALSE(seen[index]) << n;
    seen[index] = true;
    ASSERT_EQ(names_.place_of(stag), StagNames::place(GetParam(), n));
    ASSERT_EQ(StagNames::choice_of(names_.place_of(stag)), GetParam());
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), places());
}

TEST_P(StagNamesTest, TakeAllKeysOfAPlaceBeforeOneComesAgain) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t first = random.word32() % places();
    std::set<std::uint32_t> keys;
    for (std::uint64_t round = 0; round < StagNames::kKeys; ++round) {
      const Stag stag = names_.name(GetParam(), first + round * places());
      ASSERT_EQ(index_of(stag), index_of(names_.name(GetParam(), first)));
      keys.insert(stag.value() & 0xFFU);
    }
    ASSERT_EQ(keys.size(), StagNames::kKeys);
  }
}

TEST_P(StagNamesTest, RepeatThemselvesWhenAllHaveBeenUsed) {
  const std::uint64_t all = std::uint64_t{places()} * StagNames::kKeys;
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{12345}, all - 1}) {
    EXPECT_EQ(names_.name(GetParam(), n + all), names_.name(GetParam(), n));
  }
}

// RFC 5042 §6.1.1: neither the next one nor the next key of an index follows from the last.
TEST_P(StagNamesTest, DoNotFollowFromEachOther) {
  std::set<std::uint32_t> steps, key_steps;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const Stag stag = names_.name(GetParam(), n);
    steps.insert(names_.name(GetParam(), n + 1).value() - stag.value());
    key_steps.insert((names_.name(GetParam(), n + places()).value() - stag.value()) & 0xFFU);
  }
  EXPECT_GT(steps.size(), 990U);
  EXPECT_GT(key_steps.size(), 100U) << "of 128 odd ones";
}

INSTANTIATE_TEST_SUITE_P(Choices, StagNamesTest,
                         testing::Values(KeyChoice::kTable, KeyChoice::kOwner),
                         [](const auto& tested) {
                           return tested.param == KeyChoice::kTable ? "Table" : "Owner";
                         });

TEST(StagNames, HaveAPlaceForEveryValue) {
  const StagNames names(7);
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    const Stag stag{random.word32()};
    ASSERT_LT(names.place_of(stag), StagNames::kPlaces);
    ASSERT_EQ(names.place_of(stag), names.place_of(Stag{index_of(stag)})) << "whatever its key";
  }
}

}  // namespace
}  // namespace iwarp::ddp
