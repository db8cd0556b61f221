#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "file_service/client/buffer_ring.hpp"
#include "file_service/server/buffer_budget.hpp"
#include "file_service/server/transfer_buffers.hpp"
#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {
namespace {

TEST(BufferRing, LendsEveryBufferOnceAndInOrder) {
  BufferRing ring(3, 4096);
  const std::byte* first = ring.take().data();
  EXPECT_EQ(ring.take().data(), first + 4096);
  EXPECT_EQ(ring.take().data(), first + 8192);
  EXPECT_FALSE(ring.available());
  ring.release();
  ASSERT_TRUE(ring.available());
  EXPECT_EQ(ring.take().data(), first);
}

TEST(BufferRing, SaysWhichUseMustBeOverBeforeABufferIsUsedAgain) {
  BufferRing ring(2, 64);
  for (const std::uint64_t expected : {0U, 0U, 1U, 2U, 3U}) {
    EXPECT_EQ(ring.must_be_done(), expected);
    if (!ring.available()) ring.release();
    ring.take();
  }
}

/// A transfer that has as many buffers as it can use or is lent.
using Lease = std::unique_ptr<BufferBudget::Lease>;
Lease grown(
    BufferBudget& budget, Standing standing = Standing::kKnown,
    std::function<void()> on_lent = [] {}) {
  auto lease = std::make_unique<BufferBudget::Lease>(budget, standing, std::move(on_lent));
  while (lease->count() < kWindow) {
    const std::size_t before = lease->count();
    lease->grow();
    if (lease->count() == before) break;
  }
  return lease;
}

TEST(BufferBudget, GivesFewTransfersWholeWindowsAndManyOneBufferEach) {
  BufferBudget budget(kTotalBuffers, kLongInLine);
  std::vector<Lease> leases;
  std::size_t total = 0;
  for (int i = 0; i < 64; ++i) {
    leases.push_back(grown(budget));
    const std::size_t count = leases.back()->count();
    EXPECT_GE(count, 1U);
    EXPECT_LE(count, kWindow);
    if (i < 8) {
      EXPECT_EQ(count, kWindow);
    }
    total += count;
  }
  // Together with everything else a server needs this stays below 256 MiB.
  EXPECT_LE(total * kMaxChunk, 192U << 20);
}

TEST(BufferBudget, GivesEachTransferOfAKnownNetworkOneBufferIfNeedBeBeyondTheTotal) {
  BufferBudget budget(2, kLongInLine);
  const auto first = grown(budget), second = grown(budget);
  EXPECT_FALSE(budget.lack().overdrawn);
  const auto third = grown(budget);
  EXPECT_EQ(third->count(), 1U);
  EXPECT_TRUE(budget.lack().overdrawn);
}

TEST(BufferBudget, HasStrangersStandInLine) {
  BufferBudget budget(2, kLongInLine);
  Lease known = grown(budget);
  Lease stranger = grown(budget, Standing::kStranger);
  EXPECT_EQ(stranger->count(), 1U);
  const Lease first = grown(budget, Standing::kStranger);
  Lease second = grown(budget, Standing::kStranger);
  const Lease third = grown(budget, Standing::kStranger);
  EXPECT_EQ(first->count(), 0U);
  EXPECT_EQ(budget.lack().in_line, 3U);
  known.reset();
  EXPECT_EQ(first->count(), 1U);
  EXPECT_EQ(second->count(), 0U);
  second.reset();
  stranger.reset();
  EXPECT_EQ(third->count(), 1U);
  EXPECT_EQ(budget.lack().in_line, 0U);
}

// Nor does one that has its buffer get more while others have none.
TEST(BufferBudget, LetsNoStrangerPassAnother) {
  BufferBudget budget(12, kLongInLine);
  std::vector<Lease> known;
  for (int i = 0; i < 12; ++i) {
    known.push_back(std::make_unique<BufferBudget::Lease>(budget, Standing::kKnown, [] {}));
  }
  const Lease waits = grown(budget, Standing::kStranger);
  EXPECT_EQ(waits->count(), 0U);
  known.front()->grow();
  EXPECT_EQ(known.front()->count(), 1U);
  known.pop_back();
  EXPECT_EQ(waits->count(), 1U);
}

TEST(BufferBudget, TellsTheTransferThatStoodInLine) {
  BufferBudget budget(1, kLongInLine);
  int told = 0;
  Lease holds = grown(budget, Standing::kStranger, [&] { ++told; });
  const Lease waits = grown(budget, Standing::kStranger, [&] { ++told; });
  EXPECT_EQ(told, 0);
  holds.reset();
  EXPECT_EQ(told, 1);
}

// Transfers that creep and never rest would keep all strangers out.
TEST(BufferBudget, LendsBeyondTheTotalNowAndThen) {
  BufferBudget budget(1, kLongInLine);
  const Lease holds = grown(budget);
  const Lease first = grown(budget, Standing::kStranger);
  const Lease second = grown(budget, Standing::kStranger);
  auto now = BufferBudget::Clock::now();
  budget.lend_beyond(now);
  EXPECT_EQ(first->count(), 0U);
  now += kLongInLine;
  budget.lend_beyond(now);
  EXPECT_EQ(first->count(), 1U);
  budget.lend_beyond(now);
  EXPECT_EQ(second->count(), 0U);
  budget.lend_beyond(now + kLendsBeyond);
  EXPECT_EQ(second->count(), 1U);
  budget.lend_beyond(now + 2 * kLendsBeyond);
  EXPECT_EQ(budget.lack().in_line, 0U);
}

TEST(BufferBudget, TakesBuffersBack) {
  BufferBudget budget(8, kLongInLine);
  for (int i = 0; i < 100; ++i) {
    const auto first = grown(budget);
    EXPECT_EQ(first->count(), 2U);
    EXPECT_EQ(grown(budget)->count(), 1U);
  }
}

class TransferBuffersTest : public testing::Test {
 protected:
  verbs::Device device_ = verbs::Device::open().value();
  Link link_{device_, kServerLink, kStallTimeout};
  BufferBudget budget_{kTotalBuffers, kLongInLine};
};

// So a client that takes nothing of what it asks for costs one.
TEST_F(TransferBuffersTest, BeginWithOneAndGrowWithWhatComesBack) {
  TransferBuffers buffers(link_, budget_, Standing::kStranger, 100 * std::uint64_t{kMaxChunk});
  std::size_t lent = 1;
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < lent; ++i) {
      ASSERT_TRUE(buffers.available()) << round;
      EXPECT_EQ(buffers.take(kMaxChunk).bytes.size(), kMaxChunk);
    }
    EXPECT_FALSE(buffers.available()) << round;
    for (std::size_t i = 0; i < lent; ++i) buffers.release();
    lent = std::min(2 * lent, kWindow);
  }
}

TEST_F(TransferBuffersTest, AreRegisteredAndNotLentTwiceAtATime) {
  TransferBuffers buffers(link_, budget_, Standing::kStranger, 4 * std::uint64_t{kMaxChunk});
  const auto first = buffers.take(kMaxChunk);
  EXPECT_NE(first.lkey, Stag{});
  buffers.release();
  const auto second = buffers.take(kMaxChunk);
  const auto third = buffers.take(17);
  EXPECT_EQ(second.bytes.data(), first.bytes.data());
  EXPECT_NE(third.bytes.data(), first.bytes.data());
  EXPECT_EQ(third.sge().length, 17U);
  EXPECT_EQ(third.sge().lkey, third.lkey);
}

TEST_F(TransferBuffersTest, SayWhichUseMustBeOverBeforeABufferIsUsedAgain) {
  TransferBuffers buffers(link_, budget_, Standing::kStranger, 100 * std::uint64_t{kMaxChunk});
  EXPECT_EQ(buffers.must_be_done(), 0U);
  (void)buffers.take(1);
  buffers.release();
  EXPECT_EQ(buffers.must_be_done(), 1U);
  (void)buffers.take(1);
  EXPECT_EQ(buffers.must_be_done(), 0U);  // the next one is new
  (void)buffers.take(1);
  buffers.release();
  EXPECT_EQ(buffers.must_be_done(), 2U);
}

// A file of one octet needs no mebibyte.
TEST_F(TransferBuffersTest, AreNoLargerThanTheTransfer) {
  TransferBuffers buffers(link_, budget_, Standing::kStranger, 100);
  EXPECT_EQ(buffers.take(100).bytes.size(), 100U);
  EXPECT_FALSE(buffers.available());
  buffers.release();
  EXPECT_TRUE(buffers.available());
}

TEST(Limits, SmallFilesNeedFewBuffers) {
  EXPECT_EQ(buffers_for(0), 1U);
  EXPECT_EQ(buffers_for(kMaxChunk), 1U);
  EXPECT_EQ(buffers_for(kMaxChunk + 1), 2U);
  EXPECT_EQ(buffers_for(UINT64_MAX), kWindow);
}

}  // namespace
}  // namespace iwarp::cli::file_service
