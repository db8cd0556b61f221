#include "soft/queues/completion_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace iwarp::test {
namespace {

using verbs::Completion;
using verbs::CompletionFlags;
using verbs::provider::Arm;
using verbs::soft::CompletionRing;
using verbs::soft::Places;
using verbs::soft::PollSigns;

constexpr std::uint32_t kDepth = 4;
constexpr std::uint32_t kPlaces = 8;

std::vector<Completion> numbered(std::uint64_t first, std::size_t count) {
  std::vector<Completion> completions(count);
  for (Completion& completion : completions) completion.wr_id = first++;
  return completions;
}

// Work queues all of whose places are taken.
struct Taken : Places {
  Taken() : Places(kPlaces) {
    for (std::uint32_t i = 0; i < kPlaces; ++i) take();
  }
};

class RingOfCompletions : public testing::Test {
 protected:
  std::vector<std::uint64_t> popped(std::size_t most) {
    std::vector<Completion> into(most);
    into.resize(ring.pop(into));
    std::vector<std::uint64_t> numbers;
    for (const Completion& completion : into) numbers.push_back(completion.wr_id);
    return numbers;
  }

  PollSigns signs;
  Taken one, other;
  CompletionRing ring{kDepth, signs};
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(RingOfCompletions, KeepsTheOrderOfSeveralAtOnceWhereverItBegins) {
  for (std::uint64_t first = 0; first < 30; first += 3) {
    EXPECT_TRUE(ring.push(numbered(first, 3), one).all);
    EXPECT_EQ(popped(2), (Numbers{first, first + 1}));
    EXPECT_EQ(popped(2), (Numbers{first + 2}));
    for (int i = 0; i < 3; ++i) one.take();
  }
}

TEST_F(RingOfCompletions, GivesEachPlaceBackWhenItsCompletionIsPolled) {
  EXPECT_TRUE(ring.push(numbered(0, 2), one).all);
  EXPECT_TRUE(ring.push(numbered(2, 1), other).all);
  EXPECT_TRUE(ring.push(numbered(3, 1), one).all);
  EXPECT_EQ(popped(3).size(), 3U);
  EXPECT_EQ(one.room(), 2U);
  EXPECT_EQ(other.room(), 1U);
  EXPECT_EQ(popped(3).size(), 1U);
  EXPECT_EQ(one.room(), 3U);
  EXPECT_EQ(other.room(), 1U);
}

TEST_F(RingOfCompletions, TakesTheFirstThatFitAndOverruns) {
  EXPECT_TRUE(ring.push(numbered(0, 3), one).all);
  const auto pushed = ring.push(numbered(3, 3), other);
  EXPECT_FALSE(pushed.all);
  EXPECT_TRUE(pushed.first_overrun);
  EXPECT_TRUE(ring.has_overrun());
  EXPECT_EQ(other.room(), 2U);  // those that were not taken
  EXPECT_EQ(popped(8), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(one.room(), 3U);
  EXPECT_EQ(other.room(), 3U);
  const auto late = ring.push(numbered(6, 2), one);  // nothing any more
  EXPECT_FALSE(late.all);
  EXPECT_FALSE(late.first_overrun);
  EXPECT_EQ(one.room(), 5U);
  EXPECT_TRUE(popped(8).empty());
}

TEST_F(RingOfCompletions, RaisesOneEventForSeveralAtOnce) {
  EXPECT_FALSE(ring.push(numbered(0, 1), one).fires);
  ring.arm(Arm::kAny);
  EXPECT_TRUE(ring.push(numbered(1, 3), one).fires);
  EXPECT_EQ(popped(8).size(), 4U);
  EXPECT_FALSE(ring.push(numbered(4, 2), one).fires);
}

TEST_F(RingOfCompletions, RaisesAnEventForTheOneAmongThemThatIsSolicited) {
  ring.arm(Arm::kSolicited);
  EXPECT_FALSE(ring.push(numbered(0, 1), one).fires);
  std::vector<Completion> three = numbered(1, 3);
  three[1].flags = CompletionFlags::kSolicited;
  EXPECT_TRUE(ring.push(three, one).fires);
}

// What did not enter the queue raises nothing.
TEST_F(RingOfCompletions, RaisesNoEventForWhatDoesNotFit) {
  EXPECT_TRUE(ring.push(numbered(0, kDepth), one).all);
  ring.arm(Arm::kAny);
  EXPECT_FALSE(ring.push(numbered(kDepth, 1), one).fires);
}

}  // namespace
}  // namespace iwarp::test
