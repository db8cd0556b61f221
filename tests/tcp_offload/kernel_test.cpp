// What the kernel device adds to the contract: descriptors, and how it leaves Asio.
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/descriptors.hpp"
#include "tcp_offload/kernel_fixture.hpp"

namespace iwarp::tcp_offload::test {
namespace {

using iwarp::test::DescriptorLimit;
using iwarp::test::open_descriptors;

using Kernel = KernelFixture;

// Whether any epoll set of this process watches the descriptor.
bool is_watched(int descriptor) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream lines(entry.path());
    std::string word;
    for (int watched = -1; lines >> word;) {
      if (word == "tfd:" && lines >> watched && watched == descriptor) return true;
    }
  }
  return false;
}

TEST_F(Kernel, AStreamHasLeftTheReactor) {
  const NativePair pair = connect_natively();
  auto connection = device_.adopt(pair.client);
  ASSERT_TRUE(connection);
  EXPECT_TRUE(is_watched(pair.client)) << "the check itself must work";
  const auto stream = (*connection)->hand_over({});
  EXPECT_EQ(stream->descriptor(), pair.client);
  EXPECT_FALSE(is_watched(pair.client));
  EXPECT_EQ(::send(pair.server, "x", 1, 0), 1);
  context_.restart();
  EXPECT_EQ(context_.poll(), 0U);
  ::close(pair.server);
}

int socket_option(int socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket, level, name, &value, &size), 0);
  return value;
}

TEST_F(Kernel, BothEndsHaveTheTrafficClassThatTheyWereMadeWith) {
  for (const bool v6 : {false, true}) {
    SCOPED_TRACE(v6);
    const int level = v6 ? int{IPPROTO_IPV6} : int{IPPROTO_IP};
    const int name = v6 ? IPV6_TCLASS : IP_TOS;
    const Endpoint at(v6 ? boost::asio::ip::address(boost::asio::ip::address_v6::loopback())
                         : boost::asio::ip::address_v4::loopback(),
                      0);
    ListenTerms terms(4);
    terms.traffic_class = 0x48;
    const auto acceptor = device_.listen(at, terms);
    ASSERT_TRUE(acceptor);
    LocalEnd from(Endpoint(at.protocol(), 0));
    from.traffic_class = 0x68;
    Outcome accepted;
    Outcome connected;
    (*acceptor)->async_accept(accepted.connecting());
    const auto attempt =
        device_.async_connect_from(from, (*acceptor)->local_endpoint(), connected.connecting());
    ASSERT_TRUE(run_until([&] { return accepted.calls + connected.calls == 2; }));
    const int server = accepted.connection->release_native();
    const int client = connected.connection->release_native();
    EXPECT_EQ(socket_option(server, level, name), 0x48);
    EXPECT_EQ(socket_option(client, level, name), 0x68);
    ::close(server);
    ::close(client);
  }
}

TEST_F(Kernel, IPv4IsForOthersWhereAListenerIsForIPv6Alone) {
  ListenTerms terms(4);
  terms.v6_only = true;
  const auto six = device_.listen({boost::asio::ip::address_v6::any(), 0}, terms);
  ASSERT_TRUE(six);
  const std::uint16_t port = (*six)->local_endpoint().port();
  EXPECT_TRUE(device_.listen({boost::asio::ip::address_v4::any(), port}, 4));
  terms.v6_only = false;
  const auto both = device_.listen({boost::asio::ip::address_v6::any(), 0}, terms);
  ASSERT_TRUE(both);
  const auto four =
      device_.listen({boost::asio::ip::address_v4::any(), (*both)->local_endpoint().port()}, 4);
  ASSERT_FALSE(four);
  EXPECT_EQ(four.error(), std::errc::address_in_use);
}

TEST_F(Kernel, AReleasedSocketIsTheCallersAndStillConnected) {
  const NativePair pair = connect_natively();
  auto connection = device_.adopt(pair.client);
  ASSERT_TRUE(connection);
  const int socket = (*connection)->release_native();
  EXPECT_EQ(socket, pair.client);
  EXPECT_FALSE(is_watched(socket));
  connection->reset();
  EXPECT_EQ(::send(socket, "x", 1, 0), 1);
  char octet = 0;
  EXPECT_EQ(::recv(pair.server, &octet, 1, 0), 1);
  ::close(socket);
  ::close(pair.server);
}

TEST_F(Kernel, AReleasedSocketIsAsItWasBeforeItsAdoption) {
  for (const bool plain : {true, false}) {
    const NativePair pair = connect_natively([plain](int socket) {
      const int on = 1;
      if (plain) return;
      ::fcntl(socket, F_SETFD, FD_CLOEXEC);
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    });
    if (!plain) ::fcntl(pair.client, F_SETFL, ::fcntl(pair.client, F_GETFL) | O_NONBLOCK);
    auto connection = device_.adopt(pair.client);
    ASSERT_TRUE(connection);
    ASSERT_EQ((*connection)->release_native(), pair.client);
    EXPECT_EQ((::fcntl(pair.client, F_GETFL) & O_NONBLOCK) == 0, plain);
    EXPECT_EQ((::fcntl(pair.client, F_GETFD) & FD_CLOEXEC) == 0, plain);
    EXPECT_EQ(int_option(pair.client, IPPROTO_TCP, TCP_NODELAY) == 0, plain);
    ::close(pair.client);
    ::close(pair.server);
  }
}

TEST_F(Kernel, AnAdoptedSocketIsSetUpLikeItsOwn) {
  const NativePair pair = connect_natively();
  const auto connection = device_.adopt(pair.client);
  ASSERT_TRUE(connection);
  EXPECT_NE(int_option(pair.client, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_NE(::fcntl(pair.client, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(pair.client, F_GETFD) & FD_CLOEXEC, 0);
  ::close(pair.server);
}

TEST_F(Kernel, StreamsHaveNoDelayAndCloseOnExec) {
  const Streams two = connect_streams();
  for (const int socket : {two.client->descriptor(), two.server->descriptor()}) {
    EXPECT_NE(int_option(socket, IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_NE(::fcntl(socket, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(socket, F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST_F(Kernel, WhatIsNoConnectedTcpSocketIsLeftToItsOwner) {
  const int unconnected = ::socket(AF_INET, SOCK_STREAM, 0);
  const int datagram = ::socket(AF_INET, SOCK_DGRAM, 0);
  std::array<int, 2> unix_pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair.data()), 0);
  for (const int socket : {unconnected, datagram, unix_pair[0], -1}) {
    EXPECT_FALSE(device_.adopt(socket));
  }
  for (const int socket : {unconnected, datagram, unix_pair[0], unix_pair[1]}) {
    EXPECT_EQ(::close(socket), 0);
  }
}

TEST_F(Kernel, NoDescriptorLeaks) {
  connect_streams();  // whatever is opened once is open now
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    Streams two = connect_streams();
    if (i % 3 == 0) two.client->abort();
    if (i % 3 == 1) two.server->shutdown_send();
  }
  for (int i = 0; i < 20; ++i) {
    const auto acceptor = device_.listen(loopback(), 4);
    ASSERT_TRUE(acceptor);
    Outcome accepted;
    Outcome connected;
    if (i % 2 == 0) (*acceptor)->async_accept(accepted.connecting());
    const auto at = (*acceptor)->local_endpoint();
    auto attempt = device_.async_connect(at, connected.connecting());
    const auto second = device_.async_connect(at, connected.connecting());
    if (i % 4 == 1) attempt->cancel();
    if (i % 4 == 2) attempt.reset();
    if (i % 4 == 3) context_.restart(), context_.poll();
  }
  context_.restart();
  context_.poll();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Kernel, AcceptingWithoutDescriptorsReportsPausesAndRecovers) {
  if (DescriptorLimit::kUnbearable) GTEST_SKIP() << DescriptorLimit::kWhy;
  const auto acceptor = device_.listen(loopback(), 4);
  ASSERT_TRUE(acceptor);
  const Endpoint at = (*acceptor)->local_endpoint();
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, at.data(), static_cast<socklen_t>(at.size())), 0);
  Outcome accepted;
  {
    const DescriptorLimit none(0);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 1; i <= 3; ++i) {
      (*acceptor)->async_accept(accepted.connecting());
      ASSERT_TRUE(run_until([&] { return accepted.calls == i; }));
      EXPECT_EQ(accepted.error, std::errc::too_many_files_open);
    }
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
    Outcome connected;
    const auto attempt = device_.async_connect(at, connected.connecting());
    ASSERT_TRUE(run_until([&] { return connected.calls == 1; }));
    EXPECT_EQ(connected.error, std::errc::too_many_files_open);
  }
  (*acceptor)->async_accept(accepted.connecting());
  ASSERT_TRUE(run_until([&] { return accepted.calls == 4; }));
  EXPECT_FALSE(accepted.error);
  ::close(client);
}

TEST_F(Kernel, AnAcceptorCanBeClosedDuringItsPause) {
  if (DescriptorLimit::kUnbearable) GTEST_SKIP() << DescriptorLimit::kWhy;
  const auto acceptor = device_.listen(loopback(), 4);
  ASSERT_TRUE(acceptor);
  const Endpoint at = (*acceptor)->local_endpoint();
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, at.data(), static_cast<socklen_t>(at.size())), 0);
  Outcome accepted;
  {
    const DescriptorLimit none(0);
    (*acceptor)->async_accept(accepted.connecting());
    ASSERT_TRUE(run_until([&] { return accepted.calls == 1; }));
  }
  (*acceptor)->async_accept(accepted.connecting());
  (*acceptor)->close();
  ASSERT_TRUE(run_until([&] { return accepted.calls == 2; }));
  EXPECT_EQ(accepted.error, std::errc::operation_canceled);
  ::close(client);
}

TEST_F(Kernel, TasksPostedByAnotherThreadRunOnTheExecutor) {
  std::thread::id ran_on;
  std::thread other([&] { device_.post([&] { ran_on = std::this_thread::get_id(); }); });
  other.join();
  ASSERT_TRUE(run_until([&] { return ran_on != std::thread::id(); }));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST_F(Kernel, AConnectionCanBeStartedByAnotherThread) {
  std::thread executor;
  const auto acceptor = device_.listen(loopback(), 4);
  ASSERT_TRUE(acceptor);
  const auto work = boost::asio::make_work_guard(context_);
  executor = std::thread([&] { context_.run(); });
  std::atomic<int> calls{0};
  auto attempt = device_.async_connect(
      (*acceptor)->local_endpoint(),
      [&](std::error_code error, std::unique_ptr<Connection>) { calls += error ? 10 : 1; });
  while (calls == 0) std::this_thread::yield();
  context_.stop();
  executor.join();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
