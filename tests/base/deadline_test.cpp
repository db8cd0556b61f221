#include "iwarp/base/deadline.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace iwarp {
namespace {

using namespace std::chrono_literals;
using Duration = Deadline::Duration;
using Verdict = Deadline::Verdict;

/// Looks at a deadline as often as it asks for, under a clock that can jump.
class Looking {
 public:
  explicit Looking(Duration allowed) : deadline(now, allowed) {}

  /// Waits as long as was asked for, and `late` longer.
  Verdict step(Duration late = {}) {
    const Duration asked = deadline.next_look();
    waited += asked;
    now += asked + late;
    ++steps;
    return deadline.look(now);
  }
  /// Looks until the verdict is another than to wait.
  Verdict run() {
    Verdict verdict;
    do {
      verdict = step();
    } while (verdict == Verdict::kWait);
    return verdict;
  }

  Deadline::TimePoint now{1000h};
  Deadline deadline;
  Duration waited{};  // what was asked for
  std::size_t steps = 0;
};

const std::vector<Duration> kAllowed{1ms, 7ms, 300ms, 10s, 60s};
const std::vector<Duration> kJumps{11s, 1h};

TEST(Deadline, EndsInItsTimeWhereNothingComes) {
  for (const Duration allowed : kAllowed) {
    Looking looking(allowed);
    EXPECT_EQ(looking.run(), Verdict::kReadFirst);
    EXPECT_EQ(looking.waited, allowed);
    EXPECT_EQ(looking.deadline.next_look(), Duration::zero());
    EXPECT_EQ(looking.step(), Verdict::kPassed);
    EXPECT_EQ(looking.step(), Verdict::kPassed);
  }
}

TEST(Deadline, JumpOfTheClockCostsItOneStepAtMost) {
  for (const Duration allowed : kAllowed) {
    Looking undisturbed(allowed);
    undisturbed.run();
    for (const Duration jump : kJumps) {
      for (std::size_t at = 0; at < undisturbed.steps; ++at) {
        Looking looking(allowed);
        while (looking.steps < at) ASSERT_EQ(looking.step(), Verdict::kWait);
        const bool last = at + 1 == undisturbed.steps;
        ASSERT_EQ(looking.step(jump), last ? Verdict::kReadFirst : Verdict::kWait);
        if (!last) looking.run();
        EXPECT_EQ(looking.waited, allowed) << "the jump took other steps with it";
      }
    }
  }
}

// A stop just before the last step of a long time: the answer has come meanwhile.
TEST(Deadline, IsNotPassedBeforeThePeerWasReadHoweverFarTheClockJumps) {
  for (const Duration jump : kJumps) {
    Looking looking(10s);
    looking.now += jump;
    EXPECT_EQ(looking.deadline.look(looking.now), Verdict::kWait);
    EXPECT_EQ(looking.run(), Verdict::kReadFirst);
  }
  Looking at_once(0s);
  EXPECT_EQ(at_once.deadline.look(at_once.now + 1h), Verdict::kReadFirst);
}

TEST(Deadline, EndsThoughEachLookComesLate) {
  Looking looking(10s);
  Verdict verdict;
  do {
    verdict = looking.step(1h);
  } while (verdict == Verdict::kWait);
  EXPECT_EQ(verdict, Verdict::kReadFirst);
  EXPECT_EQ(looking.waited, Duration(10s));
}

TEST(Deadline, LooksMayComeEarlierThanAskedFor) {
  Looking looking(1s);
  Duration waited{};
  while (looking.deadline.look(looking.now += 3ms) == Verdict::kWait) waited += 3ms;
  EXPECT_GE(waited + 3ms, 1s);
  EXPECT_LT(waited, 1s);
}

TEST(Deadline, TakesAnyTimeThatAProgramMayNameAsAllowed) {
  Looking looking(Duration::max());
  EXPECT_GT(looking.deadline.next_look(), Duration::zero());
  EXPECT_EQ(looking.step(1h), Verdict::kWait);
  Looking negative(Duration::min());
  EXPECT_EQ(negative.deadline.next_look(), Duration::zero());
}

TEST(Deadline, ClockThatGoesBackCountsNothing) {
  Looking looking(1s);
  looking.now -= 1h;
  EXPECT_EQ(looking.deadline.look(looking.now), Verdict::kWait);
  EXPECT_EQ(looking.run(), Verdict::kReadFirst);
  EXPECT_EQ(looking.waited, Duration(1s));
}

TEST(Deadline, CountsNoMoreThanTheStepThatItsOwnerNames) {
  const Deadline::TimePoint begin{1000h};
  Deadline deadline(begin, 1s, 400ms);
  EXPECT_EQ(deadline.look(begin + 300ms), Verdict::kWait);
  EXPECT_EQ(deadline.next_look(), Duration(400ms));
  EXPECT_EQ(deadline.look(begin + 2h), Verdict::kWait);
  EXPECT_EQ(deadline.next_look(), Duration(300ms));
  EXPECT_EQ(deadline.look(begin + 4h), Verdict::kReadFirst);
}

}  // namespace
}  // namespace iwarp
