#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "iwarp/ddp/memory.hpp"
#include "support/guarded_memory.hpp"
#include "support/random.hpp"

namespace iwarp::ddp {
namespace {

using test::GuardedMemory;
using test::Random;
using Bytes = std::vector<std::byte>;

constexpr ProtectionDomainId kScatterPd{7};
constexpr std::uint64_t kScatterBase = 0x10000;

class Scatter : public testing::Test {
 protected:
  Scatter() { lkey_ = enable(kScatterPd, Rights::kLocalWrite); }

  Stag enable(ProtectionDomainId pd, Rights rights) {
    return table_.enable({memory_.data(), TaggedOffset{kScatterBase}, memory_.size(), pd, rights})
        .value();
  }
  Sge sge(std::uint64_t at, std::uint32_t length) { return {kScatterBase + at, length, lkey_}; }
  Result<void, Error> put(const std::vector<Sge>& list, std::uint64_t offset, std::size_t size) {
    Bytes data(size);
    for (std::size_t i = 0; i < size; ++i) data[i] = std::byte(i + 1);
    const auto placed = scatter(buffers_, list, offset, data);
    if (!placed) return failure(placed.error().error);
    return {};
  }
  // Where octet `n` (from 1) lies; none if it was not placed.
  std::ptrdiff_t where(unsigned n) {
    const auto end = memory_.data() + memory_.size();
    const auto* at = std::find(memory_.data(), end, std::byte(n));
    return at == end ? -1 : at - memory_.data();
  }
  std::ptrdiff_t count_written() {
    const ConstBytes all = memory_.bytes();
    return std::count_if(all.begin(), all.end(), [](std::byte b) { return b != std::byte{0}; });
  }

  GuardedMemory memory_{256};
  StagTable table_{1};
  Hold buffers_{table_, kScatterPd};
  Stag lkey_;
};

TEST_F(Scatter, FillsTheElementsInTheirOrder) {
  ASSERT_TRUE(put({sge(100, 3), sge(10, 4), sge(200, 2)}, 0, 9));
  EXPECT_EQ(where(1), 100);
  EXPECT_EQ(where(3), 102);
  EXPECT_EQ(where(4), 10);
  EXPECT_EQ(where(7), 13);
  EXPECT_EQ(where(8), 200);
  EXPECT_EQ(where(9), 201);
  EXPECT_EQ(count_written(), 9);
}

TEST_F(Scatter, StartsAtAnOffsetWithinAnyElement) {
  for (std::uint64_t offset = 0; offset <= 9; ++offset) {
    memory_.fill(std::byte{0});
    ASSERT_TRUE(put({sge(100, 3), sge(10, 4), sge(200, 2)}, offset, 9 - offset));
    const auto expected = offset < 3   ? 100 + offset
                          : offset < 7 ? 10 + offset - 3
                                       : 200 + offset - 7;
    if (offset < 9) {
      EXPECT_EQ(where(1), static_cast<std::ptrdiff_t>(expected));
    }
    EXPECT_EQ(count_written(), static_cast<std::ptrdiff_t>(9 - offset));
  }
}

TEST_F(Scatter, PassesOverEmptyElements) {
  ASSERT_TRUE(put({sge(5, 0), sge(100, 2), sge(6, 0), sge(7, 0), sge(50, 2), sge(8, 0)}, 0, 4));
  EXPECT_EQ(where(1), 100);
  EXPECT_EQ(where(3), 50);
  EXPECT_EQ(count_written(), 4);
}

TEST_F(Scatter, NeverLooksAtTheKeyOfAnEmptyElement) {
  EXPECT_TRUE(put({{0, 0, Stag{0xDEAD}}, sge(0, 4)}, 0, 4));
}

TEST_F(Scatter, RefusesOneOctetMoreThanTheListHolds) {
  EXPECT_TRUE(put({sge(0, 3), sge(10, 3)}, 0, 6));
  const auto result = put({sge(0, 3), sge(10, 3)}, 0, 7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Error::kMessageTooLong);
  EXPECT_EQ(put({sge(0, 3), sge(10, 3)}, 6, 1).error(), Error::kMessageTooLong);
  EXPECT_EQ(put({}, 0, 1).error(), Error::kMessageTooLong);
  EXPECT_TRUE(memory_.intact());
}

TEST_F(Scatter, PlacesNothingOfNothing) {
  EXPECT_TRUE(put({}, 0, 0));
  EXPECT_TRUE(put({}, 100, 0));
  EXPECT_TRUE(put({{0, 4, Stag{0xDEAD}}}, 0, 0));
}

TEST_F(Scatter, StopsAtAnElementWithAWrongKey) {
  const auto result = put({sge(100, 3), {kScatterBase + 10, 4, Stag{0xDEAD}}, sge(200, 2)}, 0, 9);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Error::kInvalidStag);
  EXPECT_EQ(count_written(), 3);  // the element in front was the caller's own
}

TEST_F(Scatter, NeedsLocalWriteInTheSameDomain) {
  const Stag read_only = enable(kScatterPd, Rights::kRemoteWrite);
  EXPECT_EQ(put({{kScatterBase, 4, read_only}}, 0, 4).error(), Error::kAccessViolation);
  const Stag foreign = enable(ProtectionDomainId{8}, Rights::kLocalWrite);
  EXPECT_EQ(put({{kScatterBase, 4, foreign}}, 0, 4).error(), Error::kStagNotAssociated);
  EXPECT_EQ(count_written(), 0);
}

TEST_F(Scatter, RefusesAnElementOutsideOfItsBuffer) {
  EXPECT_EQ(put({sge(254, 4)}, 0, 4).error(), Error::kBoundsViolation);
  EXPECT_EQ(put({{kScatterBase - 1, 4, lkey_}}, 0, 4).error(), Error::kBoundsViolation);
  EXPECT_TRUE(put({sge(254, 4)}, 0, 2)) << "only what is placed is checked";
  EXPECT_TRUE(memory_.intact());
}

TEST(TotalLength, DoesNotOverflow) {
  const std::vector<Sge> list(5, Sge{0, 0xFFFFFFFFU, Stag{1}});
  EXPECT_EQ(total_length(list), 5ULL * 0xFFFFFFFFULL);
  EXPECT_EQ(total_length({}), 0U);
}

// Random lists in random slices against one copy of the whole.
TEST_F(Scatter, OfSlicesEqualsThatOfTheWhole) {
  Random random(1);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Sge> list;
    std::vector<std::size_t> order;  // of octets in memory
    std::uint32_t at = 0;
    for (std::uint32_t i = random.below(6); i > 0; --i) {
      at += random.below(8);
      const std::uint32_t length = random.below(30);
      list.push_back(sge(at, length));
      for (std::uint32_t j = 0; j < length; ++j) order.push_back(at + j);
      at += length;
    }
    Bytes data(order.size());
    random.fill(data);
    memory_.fill(std::byte{0});
    for (std::size_t done = 0; done < data.size();) {
      const std::size_t size = std::min<std::size_t>(random.between(1, 40), data.size() - done);
      ASSERT_TRUE(scatter(buffers_, list, done, ConstBytes(data).subspan(done, size)));
      done += size;
    }
    Bytes expected(memory_.size());
    for (std::size_t i = 0; i < order.size(); ++i) expected[order[i]] = data[i];
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory_.data()));
    ASSERT_TRUE(memory_.intact());
  }
}

}  // namespace
}  // namespace iwarp::ddp
