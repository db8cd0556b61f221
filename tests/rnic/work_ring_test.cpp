#include "work_ring.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace iwarp::rnic::test {
namespace {

ibv_wc ended(ibv_wc_status status, std::uint32_t vendor_error = 0) {
  ibv_wc wc{};
  wc.status = status;
  wc.vendor_err = vendor_error;
  return wc;
}

TEST(WorkRing, ACompletionTellsOfThoseBeforeIt) {
  WorkRing ring(4);
  ring.post(1, Told::kWhenFailed, false);
  ring.post(2, Told::kWhenFailed, false);
  WorkSlot& last = ring.post(3, Told::kAlways, true);
  EXPECT_EQ(ring.room(), 1U);
  EXPECT_FALSE(ring.settled());
  EXPECT_TRUE(ring.complete(last, ended(IBV_WC_SUCCESS)));
  EXPECT_EQ(ring.room(), 4U);
  EXPECT_TRUE(ring.settled());
}

TEST(WorkRing, ASlotIsKeptUntilItsOwnCompletion) {
  WorkRing ring(4);
  WorkSlot& read = ring.post(1, Told::kAlways, true);
  ring.post(2, Told::kWhenFailed, false);
  WorkSlot& send = ring.post(3, Told::kAlways, true);
  EXPECT_TRUE(ring.complete(send, ended(IBV_WC_SUCCESS)));
  EXPECT_EQ(ring.room(), 3U) << "the Read is under way";
  EXPECT_FALSE(ring.settled());
  std::uint64_t id = 4;
  while (ring.room() != 0)
    EXPECT_TRUE(ring.complete(ring.post(id++, Told::kAlways, true), ended(IBV_WC_SUCCESS)));
  EXPECT_GE(id, 8U) << "what is behind it does not wait for it";
  EXPECT_EQ(read.wr_id, 1U);
  EXPECT_EQ(ring.outstanding(), 1U);
  EXPECT_TRUE(ring.complete(read, ended(IBV_WC_SUCCESS)));
  EXPECT_EQ(ring.outstanding(), 0U);
  EXPECT_EQ(ring.room(), 4U);
}

TEST(WorkRing, ASilentOneThatFailsBehindTheNextIsCountedOnce) {
  WorkRing ring(4);
  WorkSlot& read = ring.post(1, Told::kWhenFailed, false);
  WorkSlot& send = ring.post(2, Told::kAlways, true);
  EXPECT_TRUE(ring.complete(send, ended(IBV_WC_SUCCESS)));
  EXPECT_TRUE(ring.complete(read, ended(IBV_WC_WR_FLUSH_ERR)));
  EXPECT_EQ(ring.outstanding(), 0U);
  EXPECT_EQ(ring.room(), 4U);
}

TEST(WorkRing, OneThatTheAdapterTellsOfTwiceIsToldOnce) {
  WorkRing ring(4);
  WorkSlot& first = ring.post(1, Told::kAlways, true);
  WorkSlot& read = ring.post(2, Told::kAlways, true);
  ring.post(3, Told::kAlways, true);
  EXPECT_TRUE(ring.complete(first, ended(IBV_WC_SUCCESS)));
  EXPECT_TRUE(ring.complete(read, ended(IBV_WC_WR_FLUSH_ERR)));
  EXPECT_FALSE(ring.complete(read, ended(IBV_WC_WR_FLUSH_ERR)));
  EXPECT_FALSE(ring.complete(first, ended(IBV_WC_REM_ACCESS_ERR)));
  EXPECT_EQ(ring.outstanding(), 1U);
  EXPECT_EQ(ring.room(), 3U);
  EXPECT_EQ(ring.fault().status, IBV_WC_SUCCESS);
}

TEST(WorkRing, WhatIsGivenUpIsToldOnce) {
  WorkRing ring(4);
  ring.post(1, Told::kAlways, true);
  WorkSlot& send = ring.post(2, Told::kAlways, true);
  EXPECT_TRUE(ring.complete(send, ended(IBV_WC_SUCCESS)));
  std::vector<std::uint64_t> told;
  ring.give_up([&](const WorkSlot& slot) { told.push_back(slot.wr_id); });
  EXPECT_EQ(told, std::vector<std::uint64_t>{1});
}

TEST(WorkRing, IsSettledWithSilentRequestsBehindTheLastThatIsTold) {
  WorkRing ring(4);
  WorkSlot& told = ring.post(1, Told::kAlways, true);
  ring.post(2, Told::kWhenFailed, false);
  EXPECT_TRUE(ring.complete(told, ended(IBV_WC_SUCCESS)));
  EXPECT_TRUE(ring.settled());
  EXPECT_EQ(ring.outstanding(), 1U);
}

TEST(WorkRing, WhatIsTakenBackIsNotAwaited) {
  WorkRing ring(8);
  WorkSlot& told = ring.post(1, Told::kAlways, true);
  ring.post(2, Told::kWhenFailed, false);
  ring.post(3, Told::kAlways, true);
  ring.post(4, Told::kWhenFailed, false);
  ring.take_back(2);
  EXPECT_EQ(ring.outstanding(), 2U);
  EXPECT_FALSE(ring.settled());
  EXPECT_TRUE(ring.complete(told, ended(IBV_WC_SUCCESS)));
  EXPECT_TRUE(ring.settled());
}

TEST(WorkRing, KeepsTheFirstFaultAndThatSomethingWasFlushed) {
  WorkRing ring(4);
  WorkSlot& first = ring.post(1, Told::kAlways, true);
  WorkSlot& second = ring.post(2, Told::kAlways, true);
  WorkSlot& third = ring.post(3, Told::kAlways, true);
  EXPECT_EQ(ring.fault().status, IBV_WC_SUCCESS);
  ring.complete(first, ended(IBV_WC_REM_ACCESS_ERR, 0x77));
  ring.complete(second, ended(IBV_WC_REM_OP_ERR, 0x88));
  EXPECT_FALSE(ring.has_flushed());
  ring.complete(third, ended(IBV_WC_WR_FLUSH_ERR));
  EXPECT_EQ(ring.fault().status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ring.fault().vendor_error, 0x77U);
  EXPECT_TRUE(ring.has_flushed());
}

TEST(WorkRing, GoesOnWherePositionsBeginAnew) {
  constexpr std::uint32_t kBefore = 3;
  WorkRing ring(5, nullptr, 0 - kBefore);
  std::vector<WorkSlot*> slots;
  for (std::uint64_t id = 0; id < 5; ++id) slots.push_back(&ring.post(id, Told::kAlways, true));
  EXPECT_EQ(ring.room(), 0U);
  EXPECT_FALSE(ring.settled());
  for (std::uint64_t id = 0; id < 5; ++id) {
    EXPECT_EQ(slots[id]->wr_id, id) << "no slot is another's";
    ring.complete(*slots[id], ended(IBV_WC_SUCCESS));
    EXPECT_EQ(ring.room(), id + 1);
    EXPECT_EQ(ring.settled(), id == 4);
  }
}

TEST(WorkRing, OfAQueuePairThatIsDestroyedNothingIsTold) {
  WorkRing ring(2);
  WorkSlot& slot = ring.post(1, Told::kAlways, true);
  ring.discard();
  EXPECT_EQ(ring.outstanding(), 0U);
  EXPECT_FALSE(ring.complete(slot, ended(IBV_WC_SUCCESS)));
}

TEST(WorkRing, GivenUpItTellsOfWhatTheAdapterOwedAndOfNothingTwice) {
  WorkRing ring(4);
  ring.post(1, Told::kAlways, true);
  ring.post(2, Told::kWhenFailed, false);
  WorkSlot& late = ring.post(3, Told::kWhenFailed, true);
  std::vector<std::uint64_t> told;
  ring.give_up([&](const WorkSlot& slot) { told.push_back(slot.wr_id); });
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(ring.outstanding(), 0U);
  EXPECT_FALSE(ring.complete(late, ended(IBV_WC_WR_FLUSH_ERR)));
}

// A place is reserved before its request is posted.
TEST(WorkRing, LeavesAReservedPlaceOnce) {
  std::atomic<std::uint32_t> places{5};
  {
    WorkRing ring(8, &places);
    ring.post(1, Told::kAlways, true);
    WorkSlot& first = ring.post(2, Told::kWhenFailed, true, true);
    WorkSlot& late = ring.post(3, Told::kWhenFailed, true, true);
    ring.post(4, Told::kWhenFailed, true, true);
    ring.post(5, Told::kWhenFailed, true, true);
    ring.take_back(1);
    EXPECT_EQ(places, 4U);
    EXPECT_TRUE(ring.complete(first, ended(IBV_WC_SUCCESS)));
    EXPECT_FALSE(ring.complete(first, ended(IBV_WC_SUCCESS))) << "which siw does";
    EXPECT_EQ(places, 3U);
    ring.discard();
    EXPECT_EQ(places, 3U) << "the adapter has yet to flush them";
    EXPECT_FALSE(ring.complete(late, ended(IBV_WC_WR_FLUSH_ERR)));
    EXPECT_EQ(places, 2U);
  }
  EXPECT_EQ(places, 1U) << "that of another ring";
}

}  // namespace
}  // namespace iwarp::rnic::test
