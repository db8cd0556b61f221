#include "wire/options.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>

#include <cerrno>

namespace iwarp::rsocket {
namespace {

int number_of(const Options& options, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  EXPECT_EQ(options.get(level, name, &value, &length), 0);
  EXPECT_EQ(length, sizeof value);
  return value;
}

TEST(RsocketOptions, AreReadAsTheyWereSet) {
  Options options;
  const int value = 12345;
  for (const auto& [level, name] : {std::pair{SOL_SOCKET, SO_RCVBUF},
                                    {SOL_SOCKET, SO_SNDBUF},
                                    {SOL_RDMA, RDMA_SQSIZE},
                                    {SOL_RDMA, RDMA_RQSIZE},
                                    {SOL_RDMA, RDMA_INLINE},
                                    {SOL_RDMA, RDMA_IOMAPSIZE},
                                    {IPPROTO_TCP, TCP_KEEPIDLE}}) {
    ASSERT_EQ(options.set(level, name, &value, sizeof value), 0) << level << ' ' << name;
    EXPECT_EQ(number_of(options, level, name), value) << level << ' ' << name;
  }
}

TEST(RsocketOptions, ThatAreSwitchesReadAsOne) {
  Options options;
  const int value = 17;
  ASSERT_EQ(options.set(IPPROTO_TCP, TCP_NODELAY, &value, sizeof value), 0);
  EXPECT_EQ(number_of(options, IPPROTO_TCP, TCP_NODELAY), 1);
}

TEST(RsocketOptions, RefuseWhatCannotBe) {
  Options options;
  const int negative = -1;
  EXPECT_EQ(options.set(SOL_SOCKET, SO_RCVBUF, &negative, sizeof negative), EINVAL);
  EXPECT_EQ(options.set(SOL_SOCKET, SO_RCVBUF, &negative, 2), EINVAL);
  EXPECT_EQ(options.set(SOL_SOCKET, SO_BROADCAST, &negative, sizeof negative), ENOPROTOOPT);
}

TEST(RsocketOptions, GiveNoMoreThanThereIsRoomFor) {
  const Options options;
  std::uint8_t value = 0;
  socklen_t length = sizeof value;
  EXPECT_EQ(options.get(IPPROTO_TCP, TCP_KEEPIDLE, &value, &length), 0);
  EXPECT_EQ(length, 1U);
}

TEST(RsocketOptions, MakeSizesThatTheProtocolCanUse) {
  Options options;
  const int zero = 0, huge = 1 << 30;
  for (const int name : {SO_RCVBUF, SO_SNDBUF})
    ASSERT_EQ(options.set(SOL_SOCKET, name, &zero, sizeof zero), 0);
  for (const int name : {RDMA_SQSIZE, RDMA_RQSIZE})
    ASSERT_EQ(options.set(SOL_RDMA, name, &huge, sizeof huge), 0);
  const Sizes sizes = options.sizes();
  EXPECT_EQ(sizes.receive_buffer, 4096U);
  EXPECT_EQ(sizes.send_buffer, 4096U);
  EXPECT_EQ(sizes.send_queue, 8192U);
  EXPECT_EQ(sizes.receive_queue, 8192U);
}

}  // namespace
}  // namespace iwarp::rsocket
