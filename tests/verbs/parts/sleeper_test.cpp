#include "soft/engine/sleeper.hpp"

#include <gtest/gtest.h>

namespace iwarp::verbs::soft {
namespace {

using Step = Sleeper::Step;

/// Ticks without a sign until the engine is to do something; how many, at most a hundred.
int ticks_until(Sleeper& sleeper, Step wanted) {
  for (int ticks = 1; ticks <= 100; ++ticks) {
    const Step step = sleeper.tick();
    if (step == wanted) return ticks;
    EXPECT_EQ(step, Step::kNone);
  }
  return 0;
}

TEST(Sleeper, IsWatchedOnceAndThenLeftInPeace) {
  Sleeper sleeper;
  EXPECT_GT(ticks_until(sleeper, Step::kWatch), 1);
  EXPECT_TRUE(sleeper.is_watched());
  EXPECT_TRUE(sleeper.is_asleep());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sleeper.tick(), Step::kNone);
  EXPECT_TRUE(sleeper.is_trusted());
}

TEST(Sleeper, KeepsTheSocketsForWhichItWakesUp) {
  Sleeper sleeper;
  ASSERT_NE(ticks_until(sleeper, Step::kWatch), 0);
  for (int round = 0; round < 10; ++round) {
    sleeper.socket_is_ready();
    EXPECT_FALSE(sleeper.is_watched()) << "a report is the last until the next watch";
    EXPECT_FALSE(sleeper.is_asleep());
    EXPECT_EQ(sleeper.tick(), Step::kNone);
    EXPECT_EQ(sleeper.tick(), Step::kNone);
    sleeper.heard();
    EXPECT_GT(ticks_until(sleeper, Step::kWatch), 1);
  }
}

TEST(Sleeper, LosesTheSocketThatItDoesNotTouchUntilItIsHeardAgain) {
  Sleeper sleeper;
  ASSERT_NE(ticks_until(sleeper, Step::kWatch), 0);
  sleeper.socket_is_ready();
  EXPECT_TRUE(sleeper.is_trusted());
  EXPECT_GT(ticks_until(sleeper, Step::kTakeBack), 1);
  EXPECT_FALSE(sleeper.is_trusted());
  sleeper.unwatch();
  sleeper.socket_is_ready();
  EXPECT_FALSE(sleeper.is_trusted());
  sleeper.heard();
  EXPECT_TRUE(sleeper.is_trusted());
}

// As when the socket is left to it because there is something to read.
TEST(Sleeper, LosesTheSocketThatItNeverTouched) {
  Sleeper sleeper;
  sleeper.socket_is_ready();
  EXPECT_NE(ticks_until(sleeper, Step::kTakeBack), 0);
}

TEST(Sleeper, SignOfItsKeepsTheWatchButNotTheRest) {
  Sleeper sleeper;
  ASSERT_NE(ticks_until(sleeper, Step::kWatch), 0);
  sleeper.heard();
  EXPECT_TRUE(sleeper.is_watched());
  EXPECT_FALSE(sleeper.is_asleep()) << "it may be about to do something else";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sleeper.tick(), Step::kNone);
  EXPECT_TRUE(sleeper.is_asleep());
}

TEST(Sleeper, IsWatchedAnewWhereTheEngineHasHadTheSocketMeanwhile) {
  Sleeper sleeper;
  ASSERT_NE(ticks_until(sleeper, Step::kWatch), 0);
  sleeper.unwatch();
  EXPECT_FALSE(sleeper.is_watched());
  sleeper.heard();
  EXPECT_NE(ticks_until(sleeper, Step::kWatch), 0);
}

}  // namespace
}  // namespace iwarp::verbs::soft
