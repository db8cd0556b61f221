#include "iwarp/connection/deadlines.hpp"

#include <gtest/gtest.h>

namespace iwarp::connection {
namespace {

using namespace std::chrono_literals;

/// A connection's life and its deadlines, with a clock of its own.
class DeadlinesTest : public testing::Test {
 protected:
  void enter(LifeEvent event, bool awaits_first = false, std::chrono::milliseconds idle = 0ms) {
    take(event);
    deadlines.begin(awaits_first, idle, now);
  }
  void take(LifeEvent event) {
    const Life before = life;
    life = step(before, event).next;
    deadlines.on_step(before, life, now);
  }
  void pass(std::chrono::milliseconds time) { now += time; }
  void move(std::uint64_t sent, std::uint64_t unacknowledged, std::uint64_t received) {
    deadlines.observe(life, {sent, unacknowledged, received}, now);
  }
  [[nodiscard]] Overdue overdue() const { return deadlines.overdue(life, now); }

  Deadlines deadlines{
      {.first_fpdu = 10s, .linger = 60s, .unreachable = 1s, .idle = std::chrono::milliseconds(0)}};
  Life life;
  Deadlines::Time now{};
};

TEST_F(DeadlinesTest, AnInitiatorWaitsForNothing) {
  enter(LifeEvent::kEnterAsInitiator);
  EXPECT_FALSE(deadlines.any());
  pass(24h);
  EXPECT_EQ(overdue(), Overdue::kNothing);
}

TEST_F(DeadlinesTest, AResponderWaitsForThePeersFirstFpduAsLongAsItIsToldTo) {
  enter(LifeEvent::kEnterAsResponder, true);
  EXPECT_TRUE(deadlines.any());
  pass(10s - 1ms);
  EXPECT_EQ(overdue(), Overdue::kNothing);
  pass(1ms);
  EXPECT_EQ(overdue(), Overdue::kFirstFpdu);
}

TEST_F(DeadlinesTest, TheFirstFpduEndsThatWait) {
  enter(LifeEvent::kEnterAsResponder, true);
  pass(9s);
  take(LifeEvent::kFirstFpdu);
  EXPECT_FALSE(deadlines.any());
  pass(24h);
  EXPECT_EQ(overdue(), Overdue::kNothing);
}

TEST_F(DeadlinesTest, AnEndBeforeTheFirstFpduHasTheTimeOfAnEnd) {
  enter(LifeEvent::kEnterAsResponder, true);
  pass(9s);
  take(LifeEvent::kDisconnect);
  pass(2s);
  EXPECT_EQ(overdue(), Overdue::kNothing);
  take(LifeEvent::kFirstFpdu);
  pass(58s - 1ms);
  EXPECT_EQ(overdue(), Overdue::kNothing) << "the first FPDU comes too late to end that of the end";
  pass(1ms);
  EXPECT_EQ(overdue(), Overdue::kSending);
}

TEST_F(DeadlinesTest, EachStepOfAnEndHasItsTime) {
  enter(LifeEvent::kEnterAsInitiator);
  take(LifeEvent::kDisconnect);
  pass(59s);
  take(LifeEvent::kAllSent);
  ASSERT_EQ(life.course, Course::kDraining);
  pass(60s - 1ms);
  EXPECT_EQ(overdue(), Overdue::kNothing);
  pass(1ms);
  EXPECT_EQ(overdue(), Overdue::kDelivery);
  take(LifeEvent::kLost);
  EXPECT_EQ(overdue(), Overdue::kNothing) << "what is over is not late";
  EXPECT_FALSE(deadlines.any());
}

TEST_F(DeadlinesTest, WhateverMovesGivesAnEndItsTimeAnew) {
  enter(LifeEvent::kEnterAsInitiator);
  take(LifeEvent::kDisconnect);
  move(100, 100, 0);
  struct {
    std::uint64_t sent, unacknowledged, received;
  } const moves[] = {{101, 100, 0}, {101, 99, 0}, {101, 99, 1}};
  for (const auto& each : moves) {
    pass(59s);
    move(each.sent, each.unacknowledged, each.received);
    EXPECT_EQ(overdue(), Overdue::kNothing);
  }
  pass(59s);
  move(101, 99, 1);
  pass(1s);
  EXPECT_EQ(overdue(), Overdue::kSending) << "nothing has moved for a minute";
}

TEST_F(DeadlinesTest, WhatAPeerSendsAfterAFaultDoesNotCount) {
  enter(LifeEvent::kEnterAsInitiator);
  move(1, 0, 1);
  take(LifeEvent::kFault);
  ASSERT_EQ(life.course, Course::kTerminating);
  move(2, 1, 1);
  for (int second = 0; second < 60; ++second) {
    pass(1s);
    move(2, 1, 2 + static_cast<std::uint64_t>(second));
  }
  EXPECT_EQ(overdue(), Overdue::kSending);
}

TEST_F(DeadlinesTest, AnIdleConnectionIsOverdueOnlyIfItHasALimit) {
  enter(LifeEvent::kEnterAsInitiator, false, 5s);
  EXPECT_TRUE(deadlines.depends_on_progress(life));
  move(1, 1, 1);
  pass(5s - 1ms);
  EXPECT_EQ(overdue(), Overdue::kNothing);
  move(1, 0, 1);  // acknowledgements count
  pass(1ms);
  EXPECT_EQ(overdue(), Overdue::kNothing);
  pass(5s - 1ms);
  EXPECT_EQ(overdue(), Overdue::kAnyMovement);
  take(LifeEvent::kDisconnect);
  EXPECT_EQ(overdue(), Overdue::kNothing) << "an end has times of its own";
}

TEST_F(DeadlinesTest, ProgressIsAskedForWhereItMattersOnly) {
  enter(LifeEvent::kEnterAsResponder, true);
  EXPECT_FALSE(deadlines.depends_on_progress(life)) << "the first FPDU is no matter of progress";
  take(LifeEvent::kDisconnect);
  EXPECT_TRUE(deadlines.depends_on_progress(life));
  take(LifeEvent::kAbort);
  EXPECT_FALSE(deadlines.depends_on_progress(life));
}

TEST_F(DeadlinesTest, AProgramIsKeptUnawareOfItsPeersEndForABoundedTime) {
  life.program = Program::kUnaware;
  enter(LifeEvent::kEnterAsInitiator);
  pass(5s);
  take(LifeEvent::kPeerFin);
  ASSERT_EQ(life.input, Input::kPeerGone);
  pass(1s - 1ms);
  EXPECT_EQ(overdue(), Overdue::kNothing);
  pass(1ms);
  EXPECT_EQ(overdue(), Overdue::kAnswerToGone);
  take(LifeEvent::kPeerGoneForLong);
  EXPECT_EQ(overdue(), Overdue::kNothing);
}

}  // namespace
}  // namespace iwarp::connection
