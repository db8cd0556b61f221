#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "lawful/connection.hpp"

// rdma_bind_addr(3), rdma_resolve_addr(3), rdma_set_option(3): which address, port and device an id
// has.
namespace iwarp::lawful {
namespace {

// The kernel's cma_any_addr() is true of the wildcard and of loopback addresses: rdma_bind_addr()
// takes no device then. libfabric leaves all devices out but the one that "localhost" names.
TEST(Bound, ToLoopbackOrTheWildcardAnIdHasNoDevice) {
  for (const char* text : {"127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"}) {
    SCOPED_TRACE(text);
    const Id id;
    SocketAddress at = address(text);
    ASSERT_EQ(rdma_bind_addr(id.get(), at.plain()), 0) << std::strerror(errno);
    EXPECT_EQ(id->verbs, nullptr);
    EXPECT_EQ(id->pd, nullptr);
    EXPECT_NE(rdma_get_src_port(id.get()), 0);
  }
}

TEST(Bound, ToLoopbackAnIdHasTheDeviceBehindItsPeerWhenThatIsResolved) {
  const Id id;
  SocketAddress at = address("127.0.0.1");
  ASSERT_EQ(rdma_bind_addr(id.get(), at.plain()), 0);
  const __be16 port = rdma_get_src_port(id.get());
  SocketAddress to = address(here(), 9);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), 0);
  EXPECT_NE(id->verbs, nullptr);
  EXPECT_NE(id->pd, nullptr);
  EXPECT_EQ(rdma_get_src_port(id.get()), port);
}

// cma_get_port(), at the resolution.
TEST(Bound, ByItsResolutionAnIdHasAPort) {
  const Id id;
  SocketAddress to = address(here(), 9);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), 0);
  EXPECT_NE(rdma_get_src_port(id.get()), 0);
}

int bind_both(const Id& first, const char* at, const Id& second, const char* beside,
              std::uint16_t port = 0) {
  SocketAddress one = address(at, port);
  must(rdma_bind_addr(first.get(), one.plain()), at);
  SocketAddress two = address(beside, ntohs(rdma_get_src_port(first.get())));
  return rdma_bind_addr(second.get(), two.plain()) == 0 ? 0 : errno;
}

void set_option(const Id& id, int option, int value) {
  must(rdma_set_option(id.get(), RDMA_OPTION_ID, option, &value, sizeof value), "rdma_set_option");
}

// cma_check_port(): a second id has the port only if both say REUSEADDR. A wildcard or loopback
// address that cannot be had is not available, others are in use.
TEST(Port, IsOneIds) {
  const Id first, second, third;
  EXPECT_EQ(bind_both(first, "127.0.0.1", second, "127.0.0.1"), EADDRNOTAVAIL);
  SocketAddress wildcard = address("0.0.0.0", ntohs(rdma_get_src_port(first.get())));
  EXPECT_EQ(rdma_bind_addr(third.get(), wildcard.plain()), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL);
}

TEST(Port, IsSharedWhereBothAskForIt) {
  const Id first, second, third;
  set_option(first, RDMA_OPTION_ID_REUSEADDR, 1);
  set_option(second, RDMA_OPTION_ID_REUSEADDR, 1);
  EXPECT_EQ(bind_both(first, "127.0.0.1", second, "127.0.0.1"), 0);
  SocketAddress at = address("127.0.0.1", ntohs(rdma_get_src_port(first.get())));
  EXPECT_EQ(rdma_bind_addr(third.get(), at.plain()), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL);
}

TEST(Port, IsNotForASocketThatReusesAddresses) {
  const Id id;
  SocketAddress at = address("127.0.0.1");
  ASSERT_EQ(rdma_bind_addr(id.get(), at.plain()), 0);
  at = address("127.0.0.1", ntohs(rdma_get_src_port(id.get())));
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const int one = 1;
  ASSERT_EQ(::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), 0);
  EXPECT_EQ(::bind(socket, at.plain(), sizeof(sockaddr_in)), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  ::close(socket);
}

// perftest does, when it has its connection.
TEST(Port, OfAListenerThatHasGoneIsFreeBesideItsConnections) {
  Connection both;
  both.establish();
  SocketAddress at = address(here(), ntohs(rdma_get_src_port(both.listener.get())));
  {
    const Id meanwhile;
    EXPECT_EQ(rdma_bind_addr(meanwhile.get(), at.plain()), -1);
  }
  const std::uint16_t port = rdma_get_src_port(both.listener.get());
  both.listener = Id();
  const Id again, third;
  at = address(here(), ntohs(port));
  ASSERT_EQ(rdma_bind_addr(again.get(), at.plain()), 0) << std::strerror(errno);
  EXPECT_EQ(rdma_bind_addr(third.get(), at.plain()), -1);
  ASSERT_EQ(rdma_listen(again.get(), 4), 0) << std::strerror(errno);
}

// An id that is bound connects from there.
TEST(Port, IsThatOfTheConnection) {
  Connection both;
  const __be16 chosen = rdma_get_src_port(both.client->get());
  both.establish();
  EXPECT_EQ(rdma_get_src_port(both.client->get()), chosen);
  EXPECT_EQ(rdma_get_dst_port(both.server->get()), chosen);
}

// An id keeps its port until it is destroyed, whatever has become of it (rdma_destroy_id(),
// cma_release_port()).
TEST(Port, IsItsIdsUntilThatIsDestroyed) {
  Connection both;
  both.establish();
  SocketAddress at = address(here(), ntohs(rdma_get_src_port(both.client->get())));
  const Id other;
  EXPECT_EQ(rdma_bind_addr(other.get(), at.plain()), -1) << "while it is connected";
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(rdma_disconnect(both.server->get()), 0);
  both.client_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(rdma_bind_addr(other.get(), at.plain()), -1) << "and behind that";
  both.client.reset();
  EXPECT_EQ(rdma_bind_addr(other.get(), at.plain()), 0) << std::strerror(errno);
}

// rdma_set_reuseaddr() takes it in every state but LISTEN.
TEST(Port, MayBeSharedWhenItsIdIsConnected) {
  Connection both;
  both.establish();
  SocketAddress at = address(here(), ntohs(rdma_get_src_port(both.client->get())));
  const Id other;
  set_option(other, RDMA_OPTION_ID_REUSEADDR, 1);
  EXPECT_EQ(rdma_bind_addr(other.get(), at.plain()), -1);
  set_option(*both.client, RDMA_OPTION_ID_REUSEADDR, 1);
  EXPECT_EQ(rdma_bind_addr(other.get(), at.plain()), 0) << std::strerror(errno);
  ASSERT_EQ(rdma_disconnect(both.client->get()), 0);
  both.server_channel.expect(RDMA_CM_EVENT_DISCONNECTED);
}

TEST(Port, OfAListenerIsNotAvailableAtTheWildcard) {
  const Id listening, other;
  SocketAddress at = address(here());
  ASSERT_EQ(rdma_bind_addr(listening.get(), at.plain()), 0);
  ASSERT_EQ(rdma_listen(listening.get(), 4), 0);
  SocketAddress wildcard = address("0.0.0.0", ntohs(rdma_get_src_port(listening.get())));
  EXPECT_EQ(rdma_bind_addr(other.get(), wildcard.plain()), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL);
}

// A port that no socket of either family has. It lies outside the range from which the system takes
// ports (32768 to 60999), as one that it gives to a socket of IPv6 may be another program's in
// IPv4.
std::uint16_t free_in_both_families() {
  std::random_device seed;
  for (int tries = 0; tries < 1000; ++tries) {
    const auto port = std::uniform_int_distribution<std::uint16_t>(20000, 31999)(seed);
    SocketAddress any = address("::", port);
    const int socket = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int no = 0;
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    const bool free = ::bind(socket, any.plain(), sizeof(sockaddr_in6)) == 0;
    ::close(socket);
    if (free) return port;
  }
  throw std::runtime_error("no port is free");
}

// cma_check_port(): ids of two families share a port when both are of their family only, as those
// of IPv4 are by themselves.
TEST(OwnFamilyOnly, LeavesThePortOfTheOtherFamily) {
  const Id six, four;
  set_option(six, RDMA_OPTION_ID_AFONLY, 1);
  ASSERT_EQ(bind_both(six, "::", four, "0.0.0.0", free_in_both_families()), 0);
  EXPECT_EQ(rdma_listen(six.get(), 4), 0) << std::strerror(errno);
  EXPECT_EQ(rdma_listen(four.get(), 4), 0) << std::strerror(errno);
}

// rdma_set_afonly() takes it in the state ADDR_BOUND, too.
TEST(OwnFamilyOnly, MayBeSaidWhenTheIdIsBound) {
  const Id six, four;
  SocketAddress any = address("::", free_in_both_families());
  ASSERT_EQ(rdma_bind_addr(six.get(), any.plain()), 0);
  const std::uint16_t port = ntohs(rdma_get_src_port(six.get()));
  set_option(six, RDMA_OPTION_ID_AFONLY, 1);
  any = address("0.0.0.0", port);
  ASSERT_EQ(rdma_bind_addr(four.get(), any.plain()), 0) << std::strerror(errno);
  EXPECT_EQ(rdma_listen(six.get(), 4), 0) << std::strerror(errno);
  EXPECT_EQ(rdma_listen(four.get(), 4), 0) << std::strerror(errno);
}

TEST(OwnFamilyOnly, IsSaidBeforeItIsListened) {
  const Id id, other;
  set_option(id, RDMA_OPTION_ID_AFONLY, 0);
  EXPECT_EQ(bind_both(id, "::", other, "0.0.0.0"), EADDRNOTAVAIL);
  ASSERT_EQ(rdma_listen(id.get(), 4), 0);
  for (const int option : {RDMA_OPTION_ID_AFONLY, RDMA_OPTION_ID_REUSEADDR}) {
    int one = 1;
    EXPECT_EQ(rdma_set_option(id.get(), RDMA_OPTION_ID, option, &one, sizeof one), -1);
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST(Options, OfUnknownNamesAndSizesAreRefused) {
  const Id id;
  int value = 1;
  EXPECT_EQ(rdma_set_option(id.get(), RDMA_OPTION_ID, 99, &value, sizeof value), -1);
  EXPECT_EQ(errno, ENOSYS);
  EXPECT_EQ(rdma_set_option(id.get(), 99, RDMA_OPTION_ID_AFONLY, &value, sizeof value), -1);
  EXPECT_EQ(errno, ENOSYS);
  EXPECT_EQ(rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &value, sizeof value),
            -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, nullptr, sizeof value),
            -1);
  EXPECT_EQ(errno, EFAULT);
}

}  // namespace
}  // namespace iwarp::lawful
