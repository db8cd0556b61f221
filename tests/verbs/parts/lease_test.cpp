#include "soft/engine/lease.hpp"

#include <gtest/gtest.h>

namespace iwarp::verbs::soft {
namespace {

using Holder = Lease::Holder;
using Verdict = Lease::Verdict;

/// The socket of a connection with two completion queues, and threads that poll.
class LeaseTest : public testing::Test {
 protected:
  bool offer() { return lease.offer(pollers, idle_polls); }
  Verdict tick(bool busy = false) { return lease.tick(pollers, idle_polls, busy); }
  /// A thread sleeps at the queue for sends, and nothing comes, until the socket is watched for it.
  void fall_asleep() {
    sends.begin_sleep();
    int ticks = 0;
    while (tick() != Verdict::kWatch) ASSERT_LT(++ticks, 100);
  }

  PollSigns sends, receives;
  std::uint32_t idle_polls = 0;
  const Pollers pollers{sends, receives};
  Lease lease{pollers, idle_polls};
};

TEST_F(LeaseTest, IsTheEnginesWhereNoThreadPolls) {
  EXPECT_FALSE(offer());
  EXPECT_EQ(lease.holder(), Holder::kEngine);
  EXPECT_TRUE(lease.watches_input());
}

TEST_F(LeaseTest, GoesToAThreadThatPollsEitherQueue) {
  for (PollSigns* const queue : {&sends, &receives}) {
    queue->note();
    EXPECT_TRUE(offer());
    EXPECT_EQ(lease.holder(), Holder::kPoller);
    EXPECT_FALSE(lease.watches_input());
    lease.take_back();
    EXPECT_TRUE(lease.watches_input());
  }
}

TEST_F(LeaseTest, StaysForAsLongAsTheThreadPolls) {
  sends.note();
  ASSERT_TRUE(offer());
  for (int i = 0; i < 10; ++i) {
    sends.note();
    EXPECT_EQ(tick(), Verdict::kStays);
  }
  EXPECT_EQ(tick(), Verdict::kTakeBack);
}

TEST_F(LeaseTest, OnePollMayTakeLongerThanATick) {
  sends.note();
  ASSERT_TRUE(offer());
  EXPECT_EQ(tick(true), Verdict::kStays);
  EXPECT_EQ(tick(false), Verdict::kTakeBack);
}

TEST_F(LeaseTest, AnArmedQueueLeavesNothingToPollers) {
  sends.note();
  ASSERT_TRUE(offer());
  receives.arm();
  sends.note();
  EXPECT_EQ(tick(), Verdict::kTakeBack);
  lease.take_back();
  sends.note();
  EXPECT_FALSE(offer());
  receives.fire();
  EXPECT_FALSE(offer()) << "the program has not come for the event";
  receives.event_taken();
  EXPECT_TRUE(offer());
}

TEST_F(LeaseTest, AProgramThatPollsInsteadOfTakingItsEventIsAPoller) {
  receives.arm();
  receives.fire();
  for (int polls = 0; polls < 8; ++polls) {
    sends.note();
    ASSERT_FALSE(offer());
    ASSERT_TRUE(receives.poll_leaves_to_engine());
  }
  EXPECT_FALSE(receives.poll_leaves_to_engine());
  sends.note();
  EXPECT_TRUE(offer());
  lease.take_back();
  receives.arm();
  EXPECT_FALSE(offer());
}

TEST_F(LeaseTest, AProgramThatArmsWhatIsArmedIsNoMoreAsleepForIt) {
  receives.arm();
  for (int i = 0; receives.poll_leaves_to_engine(); ++i) {
    ASSERT_LT(i, 100);
    receives.arm();
  }
  receives.fire();
  receives.event_taken();
  receives.arm();
  EXPECT_TRUE(receives.poll_leaves_to_engine()) << "armed anew";
}

TEST_F(LeaseTest, GoesToThreadsThatPollInVainWhereNoneIsItsOwn) {
  ++idle_polls;
  ASSERT_TRUE(offer());
  EXPECT_EQ(lease.holder(), Holder::kIdlePoller);
  ++idle_polls;
  EXPECT_EQ(tick(), Verdict::kStays);
  EXPECT_EQ(tick(), Verdict::kTakeBack);
}

TEST_F(LeaseTest, PrefersItsOwnPoller) {
  ++idle_polls;
  sends.note();
  ASSERT_TRUE(offer());
  EXPECT_EQ(lease.holder(), Holder::kPoller);
}

TEST_F(LeaseTest, WatchesForASleeperThatNothingWakes) {
  sends.note();
  ASSERT_TRUE(offer());
  fall_asleep();
  EXPECT_TRUE(lease.is_left());
  EXPECT_TRUE(lease.watches_input());
  EXPECT_TRUE(lease.needs_no_ticks());
  EXPECT_TRUE(lease.sleeps_on(pollers));
  sends.note();
  EXPECT_FALSE(lease.sleeps_on(pollers)) << "it has woken up";
}

TEST_F(LeaseTest, EndsWithASleeperThatDoesNotWakeUpForWhatComes) {
  sends.note();
  ASSERT_TRUE(offer());
  fall_asleep();
  lease.socket_is_ready();
  int ticks = 0;
  while (tick() == Verdict::kStays) ASSERT_LT(++ticks, 100);
  lease.take_back();
  EXPECT_FALSE(offer()) << "it has overslept";
  sends.note();
  EXPECT_TRUE(offer()) << "it has been heard again";
}

}  // namespace
}  // namespace iwarp::verbs::soft
