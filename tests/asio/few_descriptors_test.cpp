#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "fixture.hpp"
#include "support/descriptors.hpp"

namespace iwarp::asio::test {
namespace {

// Each descriptor that a device needs is missing once. Told at once, and nothing of it is left.
TEST(AsioDescriptors, ADeviceThatFindsTooFewIsRefused) {
  using iwarp::test::DescriptorLimit;
  if (DescriptorLimit::kUnbearable) GTEST_SKIP() << DescriptorLimit::kWhy;
  net::io_context io;
  const net::posix::stream_descriptor reactor(io);  // Asio's own are there already
  const auto next_free = [] {
    const int descriptor = ::dup(STDERR_FILENO);
    ::close(descriptor);
    return descriptor;
  };
  const int first = next_free();
  ASSERT_GE(first, 0);
  const auto is_made_with = [&](int more) {
    const DescriptorLimit limit(static_cast<rlim_t>(first) + static_cast<rlim_t>(more));
    try {
      const device on(io);
      return true;
    } catch (const std::system_error& refused) {
      EXPECT_EQ(refused.code(), std::errc::too_many_files_open);
    } catch (const boost::system::system_error& refused) {
      EXPECT_EQ(refused.code(), boost::system::errc::too_many_files_open);
    }
    return false;
  };
  int missing = 0;
  while (missing < 32 && !is_made_with(missing)) ++missing;
  EXPECT_GT(missing, 0);
  EXPECT_LT(missing, 32);
  EXPECT_EQ(next_free(), first) << "a descriptor was left open";
}

}  // namespace
}  // namespace iwarp::asio::test
