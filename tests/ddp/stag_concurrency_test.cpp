#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "ddp/domain.hpp"
#include "iwarp/ddp/memory.hpp"
#include "iwarp/ddp/stag_table.hpp"
#include "support/random.hpp"
#include "support/repeat.hpp"

namespace iwarp::ddp {
namespace {

using test::Random;

constexpr std::uint32_t kUsers = 3;
constexpr std::uint32_t kShare = 64;  // octets of the buffer that belong to one user

// Users pin, write and read their share of whatever buffer is announced while its owner ends it,
// waits until it is idle and frees the memory. AddressSanitizer and ThreadSanitizer see an access
// that comes too late.
class Churn {
 public:
  void run(unsigned rounds) {
    std::vector<std::thread> users;
    for (std::uint32_t i = 0; i < kUsers; ++i) users.emplace_back([this, i] { use(i); });
    std::thread stranger([this] { guess(); });
    for (unsigned round = 0; round < rounds; ++round) own();
    stop_ = true;
    for (std::thread& user : users) user.join();
    stranger.join();
  }

  std::atomic<unsigned> pinned{0}, torn{0};

 private:
  void own() {
    auto memory = std::make_unique<std::byte[]>(kUsers * kShare);
    const Stag stag =
        table_.enable({memory.get(), TaggedOffset{0}, kUsers * kShare, kPd, Rights::kLocalWrite})
            .value();
    announced_ = stag.value();
    const unsigned target = pinned + 1;
    for (int spin = 0; spin < 20 && pinned < target; ++spin) test::pause_a_little();
    EXPECT_TRUE(table_.disable(stag));
    while (!table_.idle(stag)) test::pause_a_little();
    table_.release(stag);
    std::fill_n(memory.get(), kUsers * kShare, std::byte{0xDD});
  }

  void use(std::uint32_t user) {
    Random random(user);
    while (!stop_) {
      const Stag stag{announced_.load()};
      const auto held = table_.pin(stag, kPd, Rights::kLocalWrite,
                                   TaggedOffset{std::uint64_t{user} * kShare}, kShare);
      if (!held) {
        test::pause_a_little();
        continue;
      }
      const auto value = std::byte(random.below(0xD0));
      static_cast<void>(place(held->memory(), std::vector<std::byte>(kShare, value)));
      for (std::uint32_t i = 0; i < kShare; ++i) torn += held->memory()[i] == value ? 0U : 1U;
      ++pinned;
    }
  }

  // Looks up STags near the announced one all the time.
  void guess() {
    Random random(99);
    while (!stop_) {
      const Stag stag{announced_.load() ^ (1U << random.below(8))};
      torn += table_.pin(stag, kPd, Rights::kNone, TaggedOffset{0}, 1) ? 1U : 0U;
      if (random.one_in(64)) test::pause_a_little();
    }
  }

  StagTable table_{7};
  std::atomic<std::uint32_t> announced_{0};
  std::atomic<bool> stop_{false};
};

TEST(StagTableConcurrency, LeavesMemoryToItsOwnerOnceIdle) {
  unsigned pinned = 0;
  test::repeat_for(std::chrono::seconds(1), [&pinned] {
    Churn churn;
    churn.run(60);
    EXPECT_EQ(churn.torn, 0U);
    pinned += churn.pinned;
  });
  EXPECT_GT(pinned, 0U);
}

// Of several threads that end one STag at once, one has done it.
TEST(StagTableConcurrency, EndsAnStagForExactlyOneThread) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 200;
  StagTable table(7);
  std::byte octet{};
  std::atomic<std::uint32_t> current{0};
  std::atomic<int> ended{0};
  std::barrier start(kThreads + 1);
  std::barrier done(kThreads + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) {
        start.arrive_and_wait();
        const Stag stag{current.load()};
        const bool won =
            i == 0 ? table.disable(stag) : table.invalidate_for_peer(stag, kPd).has_value();
        ended += won ? 1 : 0;
        done.arrive_and_wait();
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    current = table.enable({&octet, TaggedOffset{64}, 1, kPd, Rights::kRemoteInvalidate})->value();
    start.arrive_and_wait();
    done.arrive_and_wait();
    EXPECT_EQ(ended, round + 1);
    EXPECT_TRUE(table.idle(Stag{current}));
    table.release(Stag{current});
  }
  for (std::thread& thread : threads) thread.join();
}

// Look-ups go on while other STags, and what holds them, come into being.
TEST(StagTableConcurrency, GrowsUnderLookUps) {
  StagTable table(7);
  std::byte octet{};
  std::atomic<std::uint32_t> latest{0};
  std::atomic<bool> stop{false};
  std::atomic<unsigned> misses{0};
  std::thread reader([&] {
    Random random(5);
    while (!stop) {
      (void)table.pin(Stag{random.word32()}, kPd, Rights::kNone, TaggedOffset{0}, 1);
      const Stag stag{latest.load()};
      if (stag == Stag{0}) continue;
      misses += table.pin(stag, kPd, Rights::kNone, TaggedOffset{0}, 1) ? 0U : 1U;
    }
  });
  for (int i = 0; i < 100'000; ++i) {
    latest = table.enable({&octet, TaggedOffset{0}, 1, kPd, Rights::kNone})->value();
  }
  stop = true;
  reader.join();
  EXPECT_EQ(misses, 0U);
}

}  // namespace
}  // namespace iwarp::ddp
