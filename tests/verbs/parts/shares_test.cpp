#include "soft/queues/shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace iwarp::test {
namespace {

using verbs::soft::Shares;

constexpr std::uint32_t kShareOfEach = 2;
constexpr std::uint32_t kMostReceives = 8;

class SharesOfReceives : public testing::Test {
 protected:
  // Takes and polls.
  void hold(Shares::Taker& taker, std::uint64_t wr_id) {
    ASSERT_TRUE(shares.take(taker, wr_id));
    shares.release(taker, 1);
  }
  // Whether there is room for one more, which is in use from then on.
  bool takes_another(Shares::Taker& taker) { return shares.take(taker, 1000); }

  Shares shares{kShareOfEach, kMostReceives};
  Shares::Taker slow, fast;
};

TEST_F(SharesOfReceives, AreUsedUpByWhatIsNotPostedAnew) {
  hold(slow, 1);
  hold(slow, 2);
  EXPECT_FALSE(takes_another(slow));
  EXPECT_TRUE(takes_another(fast));
  shares.replace(1);
  EXPECT_TRUE(takes_another(slow));
  EXPECT_FALSE(takes_another(slow));
}

TEST_F(SharesOfReceives, GrowBackForTheOneThatHadTheReceive) {
  hold(slow, 1);
  hold(slow, 2);
  for (std::uint64_t i = 0; i < 100; ++i) {
    hold(fast, 3 + i % 3);
    shares.replace(3 + i % 3);
  }
  EXPECT_FALSE(takes_another(slow));
}

TEST_F(SharesOfReceives, TakeTheFirstPolledForTheOneThatWasMeantIfSeveralHaveTheWrId) {
  hold(fast, 6);
  hold(slow, 7);
  hold(fast, 7);
  hold(slow, 6);
  shares.replace(7);  // of slow
  EXPECT_FALSE(takes_another(fast));
  EXPECT_TRUE(takes_another(slow));
  shares.replace(7);  // of fast
  EXPECT_FALSE(takes_another(slow));
  EXPECT_TRUE(takes_another(fast));
}

TEST_F(SharesOfReceives, TakeTheFirstPolledForTheOneThatWasMeantIfNoneHasTheWrId) {
  ASSERT_TRUE(shares.take(fast, 1));
  hold(slow, 2);
  shares.release(fast, 1);
  shares.replace(99);
  EXPECT_TRUE(takes_another(slow));
  hold(fast, 3);
  EXPECT_FALSE(takes_another(fast));
  shares.replace(99);
  EXPECT_TRUE(takes_another(fast));
}

TEST_F(SharesOfReceives, DoNotGrowBackByWhatIsPostedBeforeAnyIsPolled) {
  ASSERT_TRUE(shares.take(slow, 1));
  ASSERT_TRUE(shares.take(slow, 2));
  shares.replace(1);
  EXPECT_FALSE(takes_another(slow));
  shares.release(slow, 1);
  EXPECT_FALSE(takes_another(slow));
  shares.replace(2);  // that one is not polled yet, so the other is meant
  EXPECT_TRUE(takes_another(slow));
  shares.replace(2);
  EXPECT_FALSE(takes_another(slow));
}

TEST_F(SharesOfReceives, DoNotGrowBackByWhatOneHadThatIsGone) {
  Shares::Taker gone;
  hold(gone, 1);
  hold(gone, 2);
  hold(slow, 3);
  hold(slow, 4);
  shares.forget(gone);
  shares.replace(2);
  shares.replace(1);
  EXPECT_FALSE(takes_another(slow));
}

// Its program may have freed the memory.
TEST_F(SharesOfReceives, GrowBackThoughWhatOneHadThatIsGoneIsNeverPostedAnew) {
  for (const std::uint64_t wr_id : {0U, 1U}) {
    Shares::Taker gone;
    hold(gone, 0);
    hold(gone, 0);
    shares.forget(gone);
    for (int i = 0; i < 100; ++i) {
      hold(fast, wr_id);
      hold(fast, wr_id);
      shares.replace(2 * wr_id);  // its own, or none's
      shares.replace(2 * wr_id);
    }
  }
}

// ---- Against a model that searches ----

struct ModelOfShares {
  static constexpr int kGone = -1;
  struct Held {
    std::uint64_t wr_id;
    int taker;
  };
  std::vector<Held> unpolled, polled;  // each in its order

  [[nodiscard]] std::uint32_t count(int taker) const {
    const auto is_its = [taker](const Held& held) { return held.taker == taker; };
    return static_cast<std::uint32_t>(std::count_if(unpolled.begin(), unpolled.end(), is_its) +
                                      std::count_if(polled.begin(), polled.end(), is_its));
  }
  bool take(int taker, std::uint64_t wr_id) {
    if (count(taker) == kShareOfEach) return false;
    unpolled.push_back({wr_id, taker});
    return true;
  }
  bool release(int taker) {
    const auto at = std::find_if(unpolled.begin(), unpolled.end(),
                                 [taker](const Held& held) { return held.taker == taker; });
    if (at == unpolled.end()) return false;
    polled.push_back(*at);
    unpolled.erase(at);
    return true;
  }
  void replace(std::uint64_t wr_id) {
    const auto remove_if = [this](auto condition) {
      const auto at = std::find_if(polled.begin(), polled.end(), condition);
      if (at == polled.end()) return false;
      polled.erase(at);
      return true;
    };
    const auto counts = [](const Held& held) { return held.taker != kGone; };
    const auto has = [wr_id](const Held& held) { return held.wr_id == wr_id; };
    static_cast<void>(remove_if([&](const Held& held) { return has(held) && counts(held); }) ||
                      remove_if(has) || remove_if(counts) ||
                      remove_if([](const Held&) { return true; }));
  }
  // Those of one that is gone are as if they had come last.
  void forget(int taker) {
    const auto stays = [taker](const Held& held) { return held.taker != taker; };
    const auto gone = std::stable_partition(polled.begin(), polled.end(), stays);
    for (auto at = gone; at != polled.end(); ++at) at->taker = kGone;
  }
};

// Plays the queue, too: how many are posted, and that there are at most kMostReceives.
class GameOfShares {
 public:
  GameOfShares(std::uint64_t seed, std::uint32_t wr_ids) : random_(seed), wr_ids_(wr_ids) {
    for (auto& taker : takers_) taker.emplace();
  }

  void step() {
    const std::uint32_t number = random_.below(kTakers);
    const std::uint32_t what = random_.below(32);
    if (what < 12) {
      take(number);
    } else if (what < 20) {
      release(number);
    } else if (what < 31) {
      post();
    } else {
      replace_taker(number);
    }
  }

 private:
  static constexpr std::uint32_t kTakers = 4;

  void take(std::uint32_t number) {
    if (posted_ == 0) return;
    const std::uint64_t wr_id = random_.below(wr_ids_);
    const bool taken = model_.take(static_cast<int>(number), wr_id);
    EXPECT_EQ(shares_.take(*takers_.at(number), wr_id), taken);
    if (taken) --posted_;
  }
  bool release(std::uint32_t number) {
    const bool any = model_.release(static_cast<int>(number));
    if (any) shares_.release(*takers_.at(number), 1);
    return any;
  }
  void post() {
    if (posted_ + model_.unpolled.size() == kMostReceives) return;
    const std::uint64_t wr_id = random_.below(wr_ids_);
    ++posted_;
    shares_.replace(wr_id);
    model_.replace(wr_id);
  }
  void replace_taker(std::uint32_t number) {
    while (release(number)) {
    }
    shares_.forget(*takers_.at(number));
    model_.forget(static_cast<int>(number));
    takers_.at(number).emplace();
  }

  Random random_;
  const std::uint32_t wr_ids_;
  Shares shares_{kShareOfEach, kMostReceives};
  std::array<std::optional<Shares::Taker>, kTakers> takers_;
  ModelOfShares model_;
  std::size_t posted_ = 0;
};

TEST(SharesAtRandom, AreAsAModelHasThem) {
  for (std::uint32_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GameOfShares game(seed, seed % 12 + 1);
    for (int i = 0; i < 2000; ++i) game.step();
  }
}

}  // namespace
}  // namespace iwarp::test
