#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "iwarp/ddp/memory.hpp"
#include "support/guarded_memory.hpp"
#include "support/random.hpp"
#include "support/repeat.hpp"

namespace iwarp::ddp {
namespace {

using test::GuardedMemory;
using test::Random;
using Bytes = std::vector<std::byte>;

TEST(Place, EqualsACopyForEverySizeAtEveryAlignment) {
  Random random(1);
  for (std::size_t alignment = 0; alignment < 16; ++alignment) {
    for (std::size_t size = 0; size <= 64; ++size) {
      GuardedMemory memory(size, alignment);
      Bytes data(size);
      random.fill(data);
      ASSERT_FALSE(place(memory.data(), data));
      ASSERT_TRUE(std::equal(data.begin(), data.end(), memory.data())) << size << "@" << alignment;
      ASSERT_TRUE(memory.intact()) << size << "@" << alignment;
    }
  }
}

TEST(Place, EqualsACopyForLongRanges) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    GuardedMemory memory(random.below(70000), random.below(16));
    Bytes data(memory.size());
    random.fill(data);
    ASSERT_FALSE(place(memory.data(), data));
    ASSERT_TRUE(std::equal(data.begin(), data.end(), memory.data()));
    ASSERT_TRUE(memory.intact());
  }
}

TEST(Place, TakesNothingToNowhere) { EXPECT_FALSE(place(nullptr, {})); }

// The size of the part that becomes visible last: what lies in the last aligned word.
std::size_t last_part(std::size_t end) { return (end - 1) % 8 + 1; }

// A writer places ever new patterns; a reader that sees the end of one sees the whole of it. The
// reader looks at the last part with atomic loads and at the rest with plain ones, so that
// ThreadSanitizer checks the order too.
class Poller {
 public:
  Poller(std::size_t size, std::size_t alignment)
      : memory_(size, alignment), tail_(std::min(size, last_part(alignment + size))) {}

  void run(unsigned rounds) {
    std::thread writer([&] {
      for (unsigned round = 1; round <= rounds; ++round) write(round);
    });
    for (unsigned round = 1; round <= rounds; ++round) read(round);
    writer.join();
  }
  [[nodiscard]] unsigned torn() const { return torn_; }

 private:
  static std::byte mark(unsigned round) { return std::byte(round % 251 + 1); }

  void write(unsigned round) {
    while (seen_.load(std::memory_order_acquire) != round - 1) test::pause_a_little();
    ASSERT_FALSE(place(memory_.data(), Bytes(memory_.size(), mark(round))));
  }

  void read(unsigned round) {
    while (last_octet() != mark(round)) test::pause_a_little();
    for (std::size_t i = 0; i + tail_ < memory_.size(); ++i) {
      torn_ += memory_.data()[i] == mark(round) ? 0U : 1U;
    }
    seen_.store(round, std::memory_order_release);
  }

  // As a program polls: a whole word where there is one, else an octet.
  std::byte last_octet() {
    std::byte* end = memory_.data() + memory_.size();
    if (tail_ != 8) return std::atomic_ref(end[-1]).load(std::memory_order_acquire);
    auto& word = *reinterpret_cast<std::uint64_t*>(end - 8);
    const std::uint64_t value = std::atomic_ref(word).load(std::memory_order_acquire);
    const std::uint64_t octet = value & 0xFFU;
    torn_ += value == octet * 0x0101010101010101ULL ? 0U : 1U;
    return std::byte(octet);
  }

  GuardedMemory memory_;
  std::size_t tail_;
  std::atomic<unsigned> seen_{0};
  unsigned torn_ = 0;
};

TEST(Place, ShowsTheLastAlignedWordAfterTheRest) {
  test::repeat_for(std::chrono::milliseconds(500), [] {
    for (const std::size_t size : {8U, 16U, 64U, 1400U, 4096U, 65536U}) {
      Poller poller(size, 0);
      poller.run(20);
      EXPECT_EQ(poller.torn(), 0U) << size;
    }
  });
}

TEST(Place, ShowsTheLastOctetAfterTheRestAtAnyEnd) {
  test::repeat_for(std::chrono::milliseconds(500), [] {
    for (const std::size_t size : {1U, 2U, 5U, 9U, 61U, 1003U}) {
      for (std::size_t alignment = 0; alignment < 8; alignment += 3) {
        Poller poller(size, alignment);
        poller.run(5);
        EXPECT_EQ(poller.torn(), 0U) << size << "@" << alignment;
      }
    }
  });
}

}  // namespace
}  // namespace iwarp::ddp
