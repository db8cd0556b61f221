#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "file_service/buffer_budget.hpp"
#include "file_service/buffer_ring.hpp"
#include "file_service/limits.hpp"

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

TEST(BufferBudget, GivesFewClientsWholeWindowsAndManyOneBufferEach) {
  BufferBudget budget(kTotalBuffers);
  std::vector<std::unique_ptr<BufferBudget::Lease>> leases;
  std::size_t total = 0;
  for (int i = 0; i < 64; ++i) {
    leases.emplace_back(new BufferBudget::Lease(budget.lend(kWindow)));
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

TEST(BufferBudget, TakesBuffersBack) {
  BufferBudget budget(8);
  for (int i = 0; i < 100; ++i) {
    const auto first = budget.lend(kWindow);
    EXPECT_EQ(first.count(), 2U);
    EXPECT_EQ(budget.lend(1).count(), 1U);
  }
}

TEST(Limits, SmallFilesNeedFewBuffers) {
  EXPECT_EQ(buffers_for(0), 1U);
  EXPECT_EQ(buffers_for(kMaxChunk), 1U);
  EXPECT_EQ(buffers_for(kMaxChunk + 1), 2U);
  EXPECT_EQ(buffers_for(UINT64_MAX), kWindow);
}

}  // namespace
}  // namespace iwarp::cli::file_service
