#include "iwarp/base/of_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <utility>

namespace iwarp {
namespace {

std::atomic<int> made = 0, destroyed = 0;

struct Counted {
  Counted() { ++made; }
  ~Counted() { ++destroyed; }
  int uses = 0;
};
using OfThreadCounted = OfThread<Counted>;

TEST(OfThread, IsMadeOnceForEachThreadAndGoesWithIt) {
  const int made_before = made, destroyed_before = destroyed;
  std::thread([&] {
    EXPECT_EQ(OfThreadCounted::existing(), nullptr);
    Counted& first = OfThreadCounted::get();
    ++first.uses;
    EXPECT_EQ(OfThreadCounted::existing(), &first);
    EXPECT_EQ(&OfThreadCounted::get(), &first);
    std::thread([&] { EXPECT_EQ(OfThreadCounted::get().uses, 0); }).join();
    EXPECT_EQ(destroyed, destroyed_before + 1);
    EXPECT_EQ(OfThreadCounted::get().uses, 1);
  }).join();
  EXPECT_EQ(made, made_before + 2);
  EXPECT_EQ(destroyed, destroyed_before + 2);
}

TEST(OfThread, IsNotMadeForAThreadThatDoesNotUseIt) {
  const int made_before = made;
  std::thread([] { EXPECT_EQ(OfThreadCounted::existing(), nullptr); }).join();
  EXPECT_EQ(made, made_before);
}

struct ThrowsAtFirst {
  ThrowsAtFirst() {
    if (!std::exchange(thrown, true)) throw std::bad_alloc();
  }
  static inline bool thrown = false;
};

TEST(OfThread, IsMadeLaterIfItCouldNotBeMadeBefore) {
  EXPECT_THROW(OfThread<ThrowsAtFirst>::get(), std::bad_alloc);
  EXPECT_EQ(OfThread<ThrowsAtFirst>::existing(), nullptr);
  ThrowsAtFirst& made_later = OfThread<ThrowsAtFirst>::get();
  EXPECT_EQ(OfThread<ThrowsAtFirst>::existing(), &made_later);
}

/// Its destructor uses the other object, which may have gone before it.
struct UsesAnother {
  ~UsesAnother() { ++OfThreadCounted::get().uses; }
};

TEST(OfThread, IsThereForWhatEndsAfterIt) {
  const int made_before = made, destroyed_before = destroyed;
  std::thread([] {
    OfThreadCounted::get();
    OfThread<UsesAnother>::get();
  }).join();
  std::thread([] {
    OfThread<UsesAnother>::get();
    OfThreadCounted::get();
  }).join();
  EXPECT_GE(made, made_before + 2);
  EXPECT_EQ(made - made_before, destroyed - destroyed_before);
}

}  // namespace
}  // namespace iwarp
