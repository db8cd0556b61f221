#include "soft/qp/halves/handoff_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

namespace iwarp::verbs::soft {
namespace {

constexpr auto kNothing = [] {};

TEST(HandoffLock, WorkAskedForInsideIsDoneOnceMore) {
  HandoffLock lock;
  int rounds = 0;
  const auto never = [] { ADD_FAILURE() << "inside twice"; };
  EXPECT_TRUE(lock.try_run([&] {
    if (++rounds == 2) return;
    EXPECT_FALSE(lock.try_run(never));
    lock.run(never);
  }));
  EXPECT_EQ(rounds, 2);
  EXPECT_FALSE(lock.held());
}

TEST(HandoffLock, LetsNobodyInOnceItIsClosed) {
  HandoffLock lock;
  lock.close(kNothing, kNothing);
  int done = 0;
  lock.run([&] { ++done; });
  EXPECT_FALSE(lock.try_run([&] { ++done; }));
  EXPECT_EQ(done, 0);
  EXPECT_TRUE(lock.held());
}

TEST(HandoffLock, WorkThatThrowsLeavesNobodyInside) {
  HandoffLock lock;
  const auto fails = [] { throw std::bad_alloc(); };
  EXPECT_THROW(lock.run(fails), std::bad_alloc);
  EXPECT_FALSE(lock.held());
  EXPECT_THROW(lock.try_run(fails), std::bad_alloc);
  EXPECT_FALSE(lock.held());
}

TEST(HandoffLock, ClosingWaitsAndLeavesNothingUndoneThatWasAskedForBefore) {
  HandoffLock lock;
  std::atomic<bool> waits{false}, inside{true}, closed_while_inside{true};
  std::atomic<int> done{0};
  const auto count = [&] { ++done; };
  std::thread closer;
  lock.run([&] {
    if (closer.joinable()) return count();  // the second round
    lock.run(count);
    closer = std::thread([&] {
      lock.close(
          [&] {
            waits = true;
            std::this_thread::yield();
          },
          count);
      closed_while_inside = inside.load();
    });
    while (!waits.load()) std::this_thread::yield();
    inside = false;
  });
  closer.join();
  EXPECT_FALSE(closed_while_inside);
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace iwarp::verbs::soft
