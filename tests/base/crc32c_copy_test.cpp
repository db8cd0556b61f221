#include "crc32c_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "iwarp/base/crc32c.hpp"
#include "support/guarded_memory.hpp"
#include "support/octets.hpp"
#include "support/random.hpp"
#include "support/repeat.hpp"

namespace iwarp {
namespace {

using crc32c_copy::Kernel;
using test::GuardedMemory;
using test::Random;

// Every kernel that this processor can run. The reference, crc32c(), has been compared with the
// definition.
class Crc32cCopy : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string_view name = GetParam();
    kernel = name == "by_blocks"     ? &crc32c_copy::by_blocks
             : name == "in_256_bits" ? crc32c_copy::in_256_bits()
                                     : crc32c_copy::in_512_bits();
    if (kernel == nullptr) GTEST_SKIP() << "this processor lacks its instructions";
  }

  // Copies, and looks at the CRC, the copy and what is around it.
  void expect_right(ConstBytes from, std::size_t to_alignment) const {
    GuardedMemory to(from.size(), to_alignment);
    const std::uint32_t state = kernel(0xFFFFFFFFU, to.data(), from.data(), from.size());
    ASSERT_EQ(~state, crc32c(from)) << from.size() << " octets to " << to_alignment;
    ASSERT_EQ(std::memcmp(to.data(), from.data(), from.size()), 0) << from.size();
    ASSERT_TRUE(to.intact()) << from.size() << " octets to " << to_alignment;
  }

  Kernel kernel = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Kernels, Crc32cCopy,
                         testing::Values("by_blocks", "in_256_bits", "in_512_bits"),
                         [](const auto& kernel) { return std::string(kernel.param); });

std::vector<std::byte> random_octets(std::size_t size, Random& random) {
  std::vector<std::byte> octets(size);
  random.fill(octets);
  return octets;
}

TEST_P(Crc32cCopy, IsRightForEachLengthFromEachAlignment) {
  Random random(1);
  const auto octets = random_octets(4096 + 64, random);
  std::vector<std::byte> to(4096 + 128);
  for (std::size_t size = 0; size <= 4096; ++size) {
    for (std::size_t at = 0; at < 64; ++at) {
      const ConstBytes from = ConstBytes(octets).subspan(at, size);
      std::byte* const start = to.data() + (size + at) % 64;
      ASSERT_EQ(~kernel(0xFFFFFFFFU, start, from.data(), size), crc32c(from)) << size << ", " << at;
      ASSERT_EQ(std::memcmp(start, from.data(), size), 0) << size << ", " << at;
    }
  }
}

TEST_P(Crc32cCopy, WritesNothingElse) {
  Random random(2);
  const auto octets = random_octets(4096, random);
  for (std::size_t size = 0; size <= 1100; ++size) {
    expect_right(ConstBytes(octets).first(size), size % 64);
  }
}

TEST_P(Crc32cCopy, IsRightForLongRanges) {
  Random random(3);
  const auto octets = random_octets(1U << 20U, random);
  for (int round = 0; round < 60; ++round) {
    const std::size_t at = random.below(4096);
    const std::size_t size = random.below(static_cast<std::uint32_t>(octets.size() - at));
    expect_right(ConstBytes(octets).subspan(at, size), random.below(64));
  }
}

TEST_P(Crc32cCopy, GoesOnFromAnyState) {
  Random random(4);
  for (int round = 0; round < 500; ++round) {
    const auto octets = random_octets(1 + random.below(3000), random);
    const std::size_t cut = random.below(static_cast<std::uint32_t>(octets.size()));
    Crc32c crc;
    crc.update(ConstBytes(octets).first(cut));
    std::vector<std::byte> to(octets.size() - cut);
    ASSERT_EQ(~kernel(crc.state(), to.data(), octets.data() + cut, to.size()), crc32c(octets));
  }
}

// What a concurrent writer changes is in the copy and in the CRC, or in neither.
TEST_P(Crc32cCopy, IsThatOfTheCopyWhileTheSourceChanges) {
  std::vector<std::byte> from(65000), to(65000);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int value = 0; !stop.load(); ++value) {
      for (std::size_t at = 0; at < from.size(); at += 97) {
        std::atomic_ref(from[at]).store(std::byte(value), std::memory_order_relaxed);
      }
    }
  });
  std::size_t wrong = 0, rounds = 0;
  test::repeat_for(std::chrono::milliseconds(100), [&] {
    const std::uint32_t state = kernel(0xFFFFFFFFU, to.data(), from.data(), from.size());
    if (~state != crc32c(to)) ++wrong;
    ++rounds;
  });
  stop.store(true);
  writer.join();
  EXPECT_EQ(wrong, 0U) << "of " << rounds;
}

TEST(Crc32c, CopyFeedsWhatItCopies) {
  Random random(5);
  const auto octets = random_octets(5000, random);
  std::vector<std::byte> to(octets.size());
  Crc32c crc;
  crc.update(ConstBytes(octets).first(100));
  crc.copy(to.data() + 100, ConstBytes(octets).subspan(100, 3000));
  crc.copy(to.data() + 3100, ConstBytes(octets).subspan(3100));
  EXPECT_EQ(crc.value(), crc32c(octets));
  EXPECT_TRUE(std::equal(to.begin() + 100, to.end(), octets.begin() + 100));
}

TEST(Crc32c, CopiesNothing) {
  Crc32c crc;
  crc.copy(nullptr, {});
  EXPECT_EQ(crc.value(), 0U);
}

}  // namespace
}  // namespace iwarp
