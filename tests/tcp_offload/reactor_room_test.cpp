#include "kernel/reactor_room.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <list>

#include "iwarp/tcp_offload/kernel_device.hpp"
#include "support/descriptors.hpp"
#include "support/own_new.hpp"

namespace iwarp::tcp_offload {
namespace {

constexpr std::size_t kExpected = 300;

// Pieces of memory: taken so far, and how many there are. The process has one thread.
std::size_t taken = 0;
std::size_t most = SIZE_MAX;

bool admits() { return ++taken <= most; }

// What the reactor takes for `count` descriptors at a time.
std::size_t taken_for(std::size_t count, boost::asio::io_context& context) {
  std::list<boost::asio::posix::stream_descriptor> watched;
  std::size_t for_them = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto& one = watched.emplace_back(context);
    const std::size_t before = taken;
    one.assign(::eventfd(0, EFD_CLOEXEC));
    for_them += taken - before;
  }
  return for_them;
}

class ReactorRoom : public testing::Test {
 protected:
  ReactorRoom() { test::ask_at_each_new(&admits); }
  ~ReactorRoom() override { most = SIZE_MAX; }

  auto listen(std::size_t expected) {
    ListenTerms terms(16);
    terms.expected = expected;
    return device_.listen({boost::asio::ip::address_v4::loopback(), 0}, terms);
  }

  boost::asio::io_context context_;
  KernelDevice device_{context_};
};

TEST_F(ReactorRoom, AListenersConnectionsFindTheReactorsMemoryThere) {
  boost::asio::io_context without;
  ASSERT_GE(taken_for(kExpected, without), kExpected);
  const auto acceptor = listen(kExpected);  // which has one of them itself
  ASSERT_TRUE(acceptor);
  EXPECT_EQ(taken_for(kExpected - 1, context_), 0U);
}

TEST_F(ReactorRoom, OfWhatMakesItNoDescriptorIsLeft) {
  ASSERT_TRUE(listen(0));  // the reactor makes its own
  const std::size_t before = test::open_descriptors();
  {
    const auto acceptor = listen(kExpected);
    ASSERT_TRUE(acceptor);
    EXPECT_EQ(test::open_descriptors(), before + 1);
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_F(ReactorRoom, IsMadeOnceForAllListenersOfADevice) {
  const auto first = listen(kExpected);
  ASSERT_TRUE(first);
  const std::size_t before = taken;
  const auto second = listen(kExpected);
  ASSERT_TRUE(second);
  EXPECT_LT(taken - before, 100U);
}

TEST_F(ReactorRoom, IsNotMadeForMoreThanAThousandOrSo) {
  const std::size_t before = taken;
  ASSERT_TRUE(listen(1'000'000'000));
  EXPECT_LT(taken - before, 2000U);
}

TEST_F(ReactorRoom, WithoutMemoryThereIsLessOfIt) {
  ASSERT_TRUE(listen(0));
  const std::size_t before = test::open_descriptors();
  most = taken + kExpected / 2;
  kernel::make_reactor_room(context_, kExpected);
  most = SIZE_MAX;
  EXPECT_EQ(test::open_descriptors(), before);
  const std::size_t lacking = taken_for(kExpected, context_);
  EXPECT_GT(lacking, 0U);
  EXPECT_LT(lacking, kExpected);
}

TEST_F(ReactorRoom, WithoutADescriptorThereIsNone) {
  if (test::DescriptorLimit::kUnbearable) GTEST_SKIP() << test::DescriptorLimit::kWhy;
  ASSERT_TRUE(listen(0));
  {
    const test::DescriptorLimit none(0);
    kernel::make_reactor_room(context_, kExpected);
  }
  EXPECT_GE(taken_for(kExpected, context_), kExpected - 1);
}

}  // namespace
}  // namespace iwarp::tcp_offload
