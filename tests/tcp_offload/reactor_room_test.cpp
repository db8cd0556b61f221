#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <new>

#include "iwarp/tcp_offload/kernel_device.hpp"

namespace {

std::size_t taken = 0;  // pieces of memory so far; the process has one thread

}  // namespace

// In front of the library's. Not inlined: the compiler takes new and free for a mismatch then.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++taken;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace iwarp::tcp_offload {
namespace {

constexpr std::size_t kExpected = 300;

std::size_t descriptors_in_use() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

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
  const std::size_t before = descriptors_in_use();
  {
    const auto acceptor = listen(kExpected);
    ASSERT_TRUE(acceptor);
    EXPECT_EQ(descriptors_in_use(), before + 1);
  }
  EXPECT_EQ(descriptors_in_use(), before);
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

}  // namespace
}  // namespace iwarp::tcp_offload
