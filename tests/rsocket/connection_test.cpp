#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "rsocket/loopback.hpp"

namespace iwarp::rsocket_test {
namespace {

TEST(RsocketConnection, KnowsBothNames) {
  const Listener listener;
  const Owned client = listener.connect();
  sockaddr_in peer{}, local{};
  socklen_t length = sizeof peer;
  const Owned server(raccept(listener.socket(), reinterpret_cast<sockaddr*>(&peer), &length));
  ASSERT_GE(server, 0);
  length = sizeof local;
  ASSERT_EQ(rgetsockname(client, reinterpret_cast<sockaddr*>(&local), &length), 0);
  EXPECT_EQ(peer.sin_port, local.sin_port);
  EXPECT_EQ(peer.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  ASSERT_EQ(rgetpeername(client, reinterpret_cast<sockaddr*>(&peer), &length), 0);
  EXPECT_EQ(peer.sin_port, listener.address().sin_port);
}

TEST(RsocketConnection, IsThereBeforeItIsAccepted) {
  const Listener listener;
  const Owned client = listener.connect();  // nobody is in raccept
  ASSERT_EQ(rsend(client, "x", 1, 0), 1);
  const Owned server = listener.accept();
  EXPECT_EQ(receive(server, 1).at(0), 'x');
}

TEST(RsocketConnection, WaitsBehindAFullQueue) {
  const Listener listener(1);
  std::vector<Owned> clients(4);
  std::vector<std::thread> threads;
  for (Owned& each : clients) threads.emplace_back([&] { each = listener.connect(); });
  for (std::size_t each = 0; each < clients.size(); ++each) {
    const Owned server = listener.accept();
    ASSERT_EQ(rsend(server, "x", 1, 0), 1);
  }
  for (std::thread& each : threads) each.join();
  for (const Owned& each : clients) EXPECT_EQ(receive(each, 1).size(), 1U);
}

TEST(RsocketConnection, IsMadeWithoutWaiting) {
  const Listener listener;
  ASSERT_EQ(rfcntl(listener.socket(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(error_of(raccept(listener.socket(), nullptr, nullptr)), EAGAIN);
  const Owned client(rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  const sockaddr_in to = listener.address();
  // A call that is held up by the system may find the connection made.
  const int told = error_of(rconnect(client, plain(to), sizeof to));
  ASSERT_TRUE(told == EINPROGRESS || told == 0) << strerror(told);
  pollfd entry{.fd = client, .events = POLLOUT, .revents = 0};
  ASSERT_EQ(rpoll(&entry, 1, 5000), 1);
  EXPECT_EQ(entry.revents, POLLOUT);
  int error = -1;
  socklen_t length = sizeof error;
  ASSERT_EQ(rgetsockopt(client, SOL_SOCKET, SO_ERROR, &error, &length), 0);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(error_of(rconnect(client, plain(to), sizeof to)), EISCONN);
  entry = {.fd = listener.socket(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(rpoll(&entry, 1, 5000), 1);
  EXPECT_GE(listener.accept(), 0);
}

// Where somebody has listened, and does no more.
sockaddr_in address_of_nobody() {
  const Listener listener;
  return listener.address();
}

TEST(RsocketConnection, IsRefusedWhereNobodyListens) {
  const sockaddr_in nobody = address_of_nobody();
  const Owned client(rsocket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(error_of(rconnect(client, plain(nobody), sizeof nobody)), ECONNREFUSED);
}

TEST(RsocketConnection, CanBeTriedAgainAfterAFailure) {
  sockaddr_in address = address_of_nobody();
  const Owned client(rsocket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(error_of(rconnect(client, plain(address), sizeof address)), ECONNREFUSED);
  const Listener listener;
  address = listener.address();
  ASSERT_EQ(rconnect(client, plain(address), sizeof address), 0) << strerror(errno);
  const Owned server = listener.accept();
  ASSERT_EQ(rsend(client, "x", 1, 0), 1);
  EXPECT_EQ(receive(server, 1).size(), 1U);
}

TEST(RsocketConnection, FromIpv4ReachesAnIpv6Listener) {
  const Owned listener(rsocket(AF_INET6, SOCK_STREAM, 0));
  ASSERT_EQ(rlisten(listener, 4), 0);
  sockaddr_in6 bound{};
  socklen_t length = sizeof bound;
  ASSERT_EQ(rgetsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length), 0);
  const Owned client(rsocket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in to = loopback(ntohs(bound.sin6_port));
  ASSERT_EQ(rconnect(client, plain(to), sizeof to), 0) << strerror(errno);
  const Owned server(raccept(listener, nullptr, nullptr));
  ASSERT_EQ(rsend(client, "x", 1, 0), 1);
  EXPECT_EQ(receive(server, 1).size(), 1U);
}

TEST(Rsocket, IsNoDatagramSocket) {
  EXPECT_EQ(error_of(rsocket(AF_INET, SOCK_DGRAM, 0)), ESOCKTNOSUPPORT);
  EXPECT_EQ(error_of(rsocket(AF_UNIX, SOCK_STREAM, 0)), EAFNOSUPPORT);
  EXPECT_EQ(error_of(rsocket(AF_INET, SOCK_STREAM, IPPROTO_UDP)), EPROTONOSUPPORT);
}

TEST(Rsocket, ThatIsNotConnectedSaysSo) {
  const Owned socket(rsocket(AF_INET, SOCK_STREAM, 0));
  char octet = 0;
  EXPECT_EQ(error_of(rsend(socket, &octet, 1, 0)), ENOTCONN);
  EXPECT_EQ(error_of(rrecv(socket, &octet, 1, 0)), ENOTCONN);
  EXPECT_EQ(error_of(rshutdown(socket, SHUT_RDWR)), ENOTCONN);
  EXPECT_EQ(error_of(riomap(socket, &octet, 1, PROT_WRITE, 0, 0)), ENOTCONN);
  EXPECT_EQ(error_of(raccept(socket, nullptr, nullptr)), EINVAL);
}

TEST(Rsocket, IsNoOtherDescriptor) {
  char octet = 0;
  EXPECT_EQ(error_of(rrecv(STDIN_FILENO, &octet, 1, 0)), EBADF);
  EXPECT_EQ(error_of(rclose(-1)), EBADF);
  EXPECT_EQ(error_of(rclose(1 << 20)), EBADF);
}

TEST(RsocketEnd, OfOneDirectionLeavesTheOther) {
  const Pair pair;
  ASSERT_EQ(rsend(pair.client, "last", 4, 0), 4);
  ASSERT_EQ(rshutdown(pair.client, SHUT_WR), 0);
  EXPECT_EQ(error_of(rsend(pair.client, "x", 1, 0)), EPIPE);
  EXPECT_EQ(receive(pair.server, 10).size(), 4U);
  EXPECT_EQ(receive(pair.server, 10).size(), 0U);
  ASSERT_EQ(rsend(pair.server, "back", 4, 0), 4);
  EXPECT_EQ(receive(pair.client, 4).size(), 4U);
}

TEST(RsocketEnd, ComesBehindAllThatWasSent) {
  Pair pair;
  // More Messages than the peer, which does not look, can give credits for.
  int sent = 0;
  while (rsend(pair.client, "x", 1, MSG_DONTWAIT) == 1) ++sent;
  ASSERT_EQ(errno, EAGAIN);
  ASSERT_GT(sent, 100);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(pair.client.close(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  EXPECT_EQ(receive(pair.server, 100'000).size(), static_cast<std::size_t>(sent));
  char octet = 0;
  EXPECT_EQ(rrecv(pair.server, &octet, 1, 0), 0);
}

TEST(RsocketEnd, OfThePeerEndsSending) {
  Pair pair;
  pair.server.close();
  char octet = 0;
  EXPECT_EQ(rrecv(pair.client, &octet, 1, 0), 0);
  pollfd entry{.fd = pair.client, .events = POLLIN | POLLRDHUP, .revents = 0};
  ASSERT_EQ(rpoll(&entry, 1, 5000), 1);
  EXPECT_EQ(entry.revents, POLLIN | POLLRDHUP);
  const auto much = pattern(1'000'000);
  ssize_t result = 0;
  for (int attempt = 0; attempt < 100 && result >= 0; ++attempt)
    result = rsend(pair.client, much.data(), much.size(), 0);
  EXPECT_EQ(error_of(result), EPIPE);
}

TEST(RsocketEnd, ByCloseWakesWhoWaits) {
  Pair pair;
  std::thread waits([socket = static_cast<int>(pair.server)] {
    char octet = 0;
    EXPECT_EQ(error_of(rrecv(socket, &octet, 1, 0)), EBADF);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  pair.server.close();
  waits.join();
}

TEST(RsocketEnd, ByShutdownWakesWhoReads) {
  const Pair pair;
  std::thread waits([&] {
    char octet = 0;
    EXPECT_EQ(rrecv(pair.server, &octet, 1, 0), 0);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(rshutdown(pair.server, SHUT_RDWR), 0);
  waits.join();
}

TEST(RsocketPoll, WaitsForRsocketsAndOthers) {
  const Pair pair;
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  pollfd entries[] = {{.fd = ends[0], .events = POLLIN, .revents = 0},
                      {.fd = pair.server, .events = POLLIN, .revents = 0},
                      {.fd = -1, .events = POLLIN, .revents = 0}};
  EXPECT_EQ(rpoll(entries, 3, 20), 0);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ASSERT_EQ(write(ends[1], "x", 1), 1);
  });
  EXPECT_EQ(rpoll(entries, 3, 5000), 1);
  EXPECT_EQ(entries[0].revents, POLLIN);
  EXPECT_EQ(entries[1].revents, 0);
  later.join();
  std::thread sends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ASSERT_EQ(rsend(pair.client, "x", 1, 0), 1);
  });
  while (entries[1].revents == 0) ASSERT_GE(rpoll(entries, 3, 5000), 1);
  EXPECT_EQ(entries[1].revents, POLLIN);
  sends.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(RsocketPoll, SeesOnlyWhatComesWithoutOthers) {
  const Pair pair;
  pollfd entry{.fd = pair.server, .events = POLLIN, .revents = 0};
  std::thread sends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ASSERT_EQ(rsend(pair.client, "x", 1, 0), 1);
  });
  EXPECT_EQ(rpoll(&entry, 1, -1), 1);
  sends.join();
}

TEST(RsocketSelect, LeavesInTheSetsWhatIsReady) {
  const Pair pair;
  fd_set readable, writable;
  FD_ZERO(&readable);
  FD_ZERO(&writable);
  FD_SET(pair.server, &readable);
  FD_SET(pair.client, &readable);
  FD_SET(pair.client, &writable);
  ASSERT_EQ(rsend(pair.client, "x", 1, 0), 1);
  receive(pair.server, 1);
  ASSERT_EQ(rsend(pair.client, "x", 1, 0), 1);
  timeval limit{.tv_sec = 5, .tv_usec = 0};
  const int most = std::max<int>(pair.server, pair.client) + 1;
  pollfd entry{.fd = pair.server, .events = POLLIN, .revents = 0};
  ASSERT_EQ(rpoll(&entry, 1, 5000), 1);
  EXPECT_EQ(rselect(most, &readable, &writable, nullptr, &limit), 2);
  EXPECT_TRUE(FD_ISSET(pair.server, &readable));
  EXPECT_FALSE(FD_ISSET(pair.client, &readable));
  EXPECT_TRUE(FD_ISSET(pair.client, &writable));
}

TEST(RsocketFork, LeavesTheConnectionToTheParent) {
  const Pair pair;
  const pid_t child = fork();
  if (child == 0) {
    char octet = 0;
    const bool refused = error_of(rsend(pair.client, "x", 1, 0)) == EBADF &&
                         error_of(rrecv(pair.server, &octet, 1, 0)) == EBADF &&
                         error_of(rclose(pair.client)) == EBADF;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(rsend(pair.client, "x", 1, 0), 1);
  EXPECT_EQ(receive(pair.server, 1).size(), 1U);
}

}  // namespace
}  // namespace iwarp::rsocket_test
