#include "crc32c_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "support/octets.hpp"
#include "support/random.hpp"

namespace iwarp {
namespace {

using crc32c_kernels::Sizes;

using FindKernel = const crc32c_kernels::Kernel* (*)();

// Bit by bit from the definition.
std::uint32_t slowly(std::uint32_t state, const std::byte* from, std::size_t size) {
  for (; size != 0; --size)
    state = crc32c_kernels::times_x(state ^ std::to_integer<std::uint32_t>(*from++), 8);
  return state;
}

// Every kernel that this processor can run.
class Crc32cKernels : public testing::TestWithParam<FindKernel> {
 protected:
  void SetUp() override {
    if (GetParam()() == nullptr) GTEST_SKIP() << "this processor lacks its instructions";
  }
  [[nodiscard]] static const crc32c_kernels::Kernel& kernel() { return *GetParam()(); }
};
INSTANTIATE_TEST_SUITE_P(Kernels, Crc32cKernels,
                         testing::Values(&crc32c_kernels::in_256_bits,
                                         &crc32c_kernels::in_512_bits),
                         [](const auto& kernel) -> std::string {
                           return kernel.param == &crc32c_kernels::in_256_bits ? "in_256_bits"
                                                                               : "in_512_bits";
                         });

// From any state, at any address, and beyond what is taken at once.
TEST_P(Crc32cKernels, ReadIsTheDefinitionForEachMultipleOfAGranule) {
  constexpr std::size_t kMost = 150;
  const Sizes sizes = kernel().reads;
  std::vector<std::byte> octets(64 + kMost * sizes.granule);
  test::Random random(1);
  random.fill(octets);
  for (const std::size_t at : {0U, 1U, 7U, 8U, 31U, 33U, 63U}) {
    const auto before = static_cast<std::uint32_t>(at * 0x9E3779B9U);
    std::uint32_t expected = before;
    for (std::size_t size = 0; size != kMost * sizes.granule; size += sizes.granule) {
      if (sizes.taken(size) != 0) {
        ASSERT_EQ(kernel().read(before, octets.data() + at, size), expected) << size << ", " << at;
      }
      expected = slowly(expected, octets.data() + at + size, sizes.granule);
    }
  }
}

TEST_P(Crc32cKernels, CopyIsTheDefinitionForEachMultipleOfAGranule) {
  constexpr std::size_t kMost = 150;
  const Sizes sizes = kernel().copies;
  std::vector<std::byte> octets(64 + kMost * sizes.granule), to(octets.size());
  test::Random random(2);
  random.fill(octets);
  for (const std::size_t at : {0U, 1U, 32U, 63U}) {
    std::uint32_t expected = 0xFFFFFFFFU;
    for (std::size_t size = 0; size != kMost * sizes.granule; size += sizes.granule) {
      if (sizes.taken(size) != 0) {
        std::fill(to.begin(), to.end(), std::byte{0});
        const std::uint32_t state =
            kernel().copy(0xFFFFFFFFU, to.data() + (63 - at), octets.data() + at, size);
        ASSERT_EQ(state, expected) << size << ", " << at;
        ASSERT_EQ(std::memcmp(to.data() + (63 - at), octets.data() + at, size), 0);
      }
      expected = slowly(expected, octets.data() + at + size, sizes.granule);
    }
  }
}

TEST(Crc32cKernelSizes, AreWholeGranulesAndLeaveLessThanOne) {
  constexpr Sizes kSizes{640, 320};
  for (std::size_t size = 0; size < 640; ++size) EXPECT_EQ(kSizes.taken(size), 0U);
  for (std::size_t size = 640; size < 2000; ++size) {
    EXPECT_EQ(kSizes.taken(size) % 320, 0U);
    EXPECT_LE(kSizes.taken(size), size);
    EXPECT_LT(size - kSizes.taken(size), 320U);
  }
}

}  // namespace
}  // namespace iwarp
