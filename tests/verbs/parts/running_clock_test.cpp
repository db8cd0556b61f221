#include "soft/engine/running_clock.hpp"

#include <gtest/gtest.h>

namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;
using Time = RunningClock::Time;

TEST(RunningClock, RunsAsTheSteadyClockDoesWhileItIsLookedAt) {
  RunningClock clock;
  const Time begin = Time{} + 5h;
  EXPECT_EQ(clock.look(begin), begin);
  for (int i = 1; i <= 100; ++i) EXPECT_EQ(clock.look(begin + i * 250ms), begin + i * 250ms);
}

TEST(RunningClock, LeavesOutATimeInWhichNothingRan) {
  for (const auto gap : {11s, 3600s}) {
    RunningClock clock;
    const Time begin = Time{} + 5h;
    clock.look(begin);
    EXPECT_EQ(clock.look(begin + gap), begin + RunningClock::kMostGap);
    EXPECT_EQ(clock.look(begin + gap + 250ms), begin + RunningClock::kMostGap + 250ms)
        << "and goes on from there";
  }
}

TEST(RunningClock, LeavesOutEachGap) {
  RunningClock clock;
  const Time begin = Time{} + 5h;
  Time now = begin;
  clock.look(now);
  for (int i = 0; i < 10; ++i) clock.look(now += 1h);
  EXPECT_EQ(clock.look(now), begin + 10 * RunningClock::kMostGap);
}

TEST(RunningClock, MayBeginAtTheEpoch) {
  RunningClock clock;
  EXPECT_EQ(clock.look(Time{}), Time{});
  EXPECT_EQ(clock.look(Time{} + 1h), Time{} + RunningClock::kMostGap);
}

// Two threads read the steady clock, and look in the other order.
TEST(RunningClock, NeverGoesBack) {
  RunningClock clock;
  const Time begin = Time{} + 5h;
  clock.look(begin + 10ms);
  EXPECT_EQ(clock.look(begin), begin + 10ms);
}

}  // namespace
}  // namespace iwarp::verbs::soft
