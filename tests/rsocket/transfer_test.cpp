#include <fcntl.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "rsocket/loopback.hpp"

namespace iwarp::rsocket_test {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

void set_buffers(int socket, int size) {
  ASSERT_EQ(rsetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size), 0);
  ASSERT_EQ(rsetsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
}

// Rings of 4 KiB that wrap often, and those of the default size.
class Transfer : public testing::TestWithParam<int> {};

TEST_P(Transfer, CarriesEveryOctetBothWaysAtOnce) {
  const Listener listener;
  set_buffers(listener.socket(), GetParam());
  const Pair pair(listener);
  const auto there = pattern(3'000'001, 1), back = pattern(2'000'003, 2);
  std::thread client_sends([&] { send_all(pair.client, there); });
  std::thread server_sends([&] { send_all(pair.server, back); });
  std::thread server_receives([&] { EXPECT_TRUE(receive(pair.server, there.size()) == there); });
  EXPECT_TRUE(receive(pair.client, back.size()) == back);
  for (std::thread* each : {&client_sends, &server_sends, &server_receives}) each->join();
}

TEST_P(Transfer, OfSmallPiecesArrivesWhole) {
  const Listener listener;
  set_buffers(listener.socket(), GetParam());
  const Pair pair(listener);
  const auto octets = pattern(50'000);
  std::thread sends([&] {
    for (std::size_t at = 0; at < octets.size(); at += 7) {
      const auto size = std::min<std::size_t>(7, octets.size() - at);
      ASSERT_EQ(rsend(pair.client, &octets[at], size, 0), static_cast<ssize_t>(size));
    }
  });
  EXPECT_TRUE(receive(pair.server, octets.size()) == octets);
  sends.join();
}

INSTANTIATE_TEST_SUITE_P(Rsocket, Transfer, testing::Values(1, 128 * 1024));

TEST(RsocketTransfer, GathersAndScatters) {
  const Pair pair;
  std::string one = "abc", two = "defgh";
  const std::vector<iovec> from{{one.data(), 3}, {nullptr, 0}, {two.data(), 5}};
  ASSERT_EQ(rwritev(pair.client, from.data(), 3), 8);
  std::string first(5, '.'), second(3, '.');
  std::vector<iovec> to{{first.data(), 5}, {second.data(), 3}};
  msghdr message{};
  message.msg_iov = to.data();
  message.msg_iovlen = to.size();
  ASSERT_EQ(rrecvmsg(pair.server, &message, MSG_WAITALL), 8);
  EXPECT_EQ(first + second, "abcdefgh");
}

TEST(RsocketTransfer, CanBePeekedAt) {
  const Pair pair;
  ASSERT_EQ(rsend(pair.client, "hello", 5, 0), 5);
  char peeked[8] = {}, read[8] = {};
  ASSERT_EQ(rrecv(pair.server, peeked, sizeof peeked, MSG_PEEK), 5);
  ASSERT_EQ(rrecv(pair.server, read, sizeof read, 0), 5);
  EXPECT_STREQ(peeked, "hello");
  EXPECT_STREQ(read, "hello");
}

TEST(RsocketTransfer, ThatMayNotWaitSaysSo) {
  const Pair pair;
  char octet = 0;
  EXPECT_EQ(error_of(rrecv(pair.server, &octet, 1, MSG_DONTWAIT)), EAGAIN);
  ASSERT_EQ(rfcntl(pair.server, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(rfcntl(pair.server, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
  EXPECT_EQ(error_of(rrecv(pair.server, &octet, 1, 0)), EAGAIN);
  const auto much = pattern(64 * 1024);
  ssize_t sent = 0, total = 0;
  while ((sent = rsend(pair.server, much.data(), much.size(), 0)) > 0) total += sent;
  EXPECT_EQ(error_of(sent), EAGAIN);
  EXPECT_GT(total, 0);
}

TEST(RsocketTransfer, EndsItsWaitAtTheTimeOut) {
  const Pair pair;
  const timeval limit{.tv_sec = 0, .tv_usec = 50'000};
  ASSERT_EQ(rsetsockopt(pair.server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
  char octet = 0;
  const auto start = steady_clock::now();
  EXPECT_EQ(error_of(rrecv(pair.server, &octet, 1, 0)), EAGAIN);
  EXPECT_GE(steady_clock::now() - start, 50ms);
}

TEST(RsocketTransfer, ByManyThreadsLosesNothing) {
  const Pair pair;
  constexpr int kThreads = 4, kEach = 3000;
  std::vector<std::thread> threads;
  std::vector<long> sums(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&pair, thread] {
      const char octet = static_cast<char>(thread + 1);
      for (int each = 0; each < kEach; ++each) ASSERT_EQ(rwrite(pair.client, &octet, 1), 1);
    });
    threads.emplace_back([&pair, &sum = sums[static_cast<std::size_t>(thread)]] {
      char octet = 0;
      for (int each = 0; each < kEach; ++each) {
        ASSERT_EQ(rread(pair.server, &octet, 1), 1);
        sum += octet;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L), kEach * (1 + 2 + 3 + 4));
}

TEST(RsocketIomap, PutsDataInPlaceBeforeWhatFollows) {
  const Listener listener;
  const int mappings = 2;
  ASSERT_EQ(rsetsockopt(listener.socket(), SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof mappings),
            0);
  const Pair pair(listener);
  const auto octets = pattern(300'000);
  std::vector<char> target(octets.size() + 100);
  ASSERT_EQ(riomap(pair.server, target.data(), target.size(), PROT_WRITE, 0, 5000), 5000);
  ASSERT_EQ(rsend(pair.server, "m", 1, 0), 1);
  receive(pair.client, 1);
  EXPECT_EQ(riowrite(pair.client, octets.data(), octets.size(), 5100, 0), octets.size());
  ASSERT_EQ(rsend(pair.client, "d", 1, 0), 1);
  receive(pair.server, 1);
  EXPECT_TRUE(std::equal(octets.begin(), octets.end(), target.begin() + 100));
  EXPECT_EQ(riounmap(pair.server, target.data(), target.size()), 0);
  EXPECT_EQ(error_of(riounmap(pair.server, target.data(), target.size())), EINVAL);
}

TEST(RsocketIomap, RefusesWhatIsNotMapped) {
  const Pair pair;
  char octet = 0;
  EXPECT_EQ(error_of(riomap(pair.server, &octet, 1, PROT_WRITE, 0, -1)), ENOBUFS);
  EXPECT_EQ(error_of(riomap(pair.server, &octet, 1, PROT_READ, 0, -1)), EINVAL);
  EXPECT_EQ(error_of(static_cast<ssize_t>(riowrite(pair.client, &octet, 1, 0, 0))), EFAULT);
}

}  // namespace
}  // namespace iwarp::rsocket_test
