#include "iwarp/verbs/endpoint.hpp"

#include "iwarp/verbs/verbs.hpp"
#ifdef BOOST_CONFIG_HPP
#error "the headers of verbs bring Boost"
#endif

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace iwarp::verbs {
namespace {

namespace ip = boost::asio::ip;
using testing::HasSubstr;

const std::vector<std::string> kEndpoints{
    "0.0.0.0:0",        "127.0.0.1:7471",  "192.0.2.1:65535",       "[::]:0",
    "[::1]:7471",       "[2001:db8::1]:1", "[::ffff:192.0.2.1]:80", "[fe80::1%7]:7471",
    "[fe80::1%lo]:7471"};

ip::tcp::endpoint asio_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  if (host.front() == '[') host = host.substr(1, host.size() - 2);
  return {ip::make_address(host), static_cast<std::uint16_t>(std::stoul(text.substr(colon + 1)))};
}

std::string streamed(const auto& what) {
  std::ostringstream text;
  text << what;
  return text.str();
}

TEST(Endpoint, IsWrittenAndReadAsAsiosIs) {
  for (const std::string& text : kEndpoints) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_TRUE(endpoint) << text << ": " << endpoint.error().message;
    EXPECT_EQ(endpoint->to_string(), text);
    EXPECT_EQ(streamed(*endpoint), streamed(asio_endpoint(text)));
    EXPECT_EQ(endpoint->address().to_string(), asio_endpoint(text).address().to_string());
    EXPECT_EQ(streamed(endpoint->address()), endpoint->address().to_string());
  }
}

TEST(Endpoint, ConvertsToAsiosAndBack) {
  for (const std::string& text : kEndpoints) {
    const ip::tcp::endpoint theirs = asio_endpoint(text);
    const Endpoint ours = theirs;
    const ip::tcp::endpoint back = ours;
    EXPECT_EQ(back, theirs);
    EXPECT_EQ(ours.to_string(), text);
    EXPECT_EQ(ours.port(), theirs.port());
    EXPECT_EQ(ours.family(), theirs.protocol().family());
    EXPECT_EQ(ours.size(), theirs.size());
    const Address address = theirs.address();
    const ip::address address_back = address;
    EXPECT_EQ(address_back, theirs.address());
    EXPECT_EQ(Endpoint(address, theirs.port()), ours);
    EXPECT_EQ(Endpoint(theirs.address(), theirs.port()), ours);
    ip::tcp::endpoint assigned;
    assigned = ours;
    EXPECT_EQ(assigned, theirs);
  }
}

TEST(Endpoint, ComparesWithAsiosInEitherOrder) {
  const ip::tcp::endpoint theirs = asio_endpoint("192.0.2.1:7471");
  const Endpoint same = theirs, other(theirs.address(), 7472);
  EXPECT_TRUE(same == theirs && theirs == same && other != theirs && theirs != other);
  EXPECT_TRUE(theirs < other && other > theirs);
  EXPECT_TRUE(same.address() == theirs.address() && theirs.address() == same.address());
  EXPECT_TRUE(same.address() != ip::make_address("192.0.2.2"));
  EXPECT_TRUE(same.address() == ip::make_address_v4("192.0.2.1"));
  EXPECT_TRUE(same.address() < ip::address(ip::address_v6::loopback()));
}

TEST(Endpoint, IsOrderedAsAsiosAre) {
  for (const std::string& a : kEndpoints) {
    for (const std::string& b : kEndpoints) {
      const ip::tcp::endpoint x = asio_endpoint(a), y = asio_endpoint(b);
      EXPECT_EQ(Endpoint(x) < Endpoint(y), x < y) << a << " " << b;
      EXPECT_EQ(Endpoint(x) == Endpoint(y), x == y) << a << " " << b;
    }
  }
}

// What only looks like an endpoint, and endpoints of other families, are none.
TEST(Endpoint, ConvertsToNothingElse) {
  using boost::asio::generic::stream_protocol;
  static_assert(!std::is_convertible_v<Endpoint, std::string>);
  static_assert(!std::is_convertible_v<Endpoint, std::vector<char>>);
  static_assert(!std::is_convertible_v<std::string, Endpoint>);
  static_assert(!std::is_convertible_v<stream_protocol::endpoint, Endpoint>);
  static_assert(!std::is_convertible_v<Address, std::string>);
  static_assert(std::is_trivially_copyable_v<Endpoint> && std::is_trivially_copyable_v<Address>);
}

TEST(Endpoint, IsMadeAsAsiosIs) {
  EXPECT_EQ(Endpoint().to_string(), "0.0.0.0:0");
  EXPECT_EQ(Endpoint(ip::tcp::v4(), 7).to_string(), "0.0.0.0:7");
  EXPECT_EQ(Endpoint(ip::tcp::v6(), 7).to_string(), "[::]:7");
  EXPECT_EQ(Endpoint(ip::address_v4::loopback(), 7), Endpoint(Address::loopback(), 7));
  EXPECT_EQ(Endpoint(ip::address_v6::loopback(), 7).to_string(), "[::1]:7");
  const Endpoint listed{ip::make_address("127.0.0.1"), 0};
  EXPECT_EQ(listed.to_string(), "127.0.0.1:0");
}

TEST(Endpoint, IsFilledInBySystemCalls) {
  for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
    const Endpoint any = Endpoint::parse(at).value();
    const int socket = ::socket(any.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(socket, any.data(), any.size()), 0);
    Endpoint bound;
    auto size = static_cast<socklen_t>(Endpoint::capacity());
    ASSERT_EQ(::getsockname(socket, bound.data(), &size), 0);
    bound.resize(size);
    EXPECT_EQ(bound.address(), any.address());
    EXPECT_NE(bound.port(), 0);
    ::close(socket);
  }
}

TEST(Endpoint, IsNoneInParticularBehindACallThatGaveAnotherFamilyOrLess) {
  Endpoint endpoint = Endpoint::parse("[::1]:7471").value();
  endpoint.resize(sizeof(sockaddr_in));
  EXPECT_EQ(endpoint, Endpoint());
  endpoint = Endpoint(Address::loopback(), 7471);
  endpoint.resize(sizeof(sockaddr_in));
  EXPECT_EQ(endpoint, Endpoint(Address::loopback(), 7471));
  endpoint.data()->sa_family = AF_UNIX;
  endpoint.resize(Endpoint::capacity());
  EXPECT_EQ(endpoint, Endpoint());
}

TEST(Endpoint, WrongTextIsNamedInTheError) {
  const auto error_of = [](const std::string& text) {
    const auto parsed = Endpoint::parse(text);
    EXPECT_FALSE(parsed) << text;
    return parsed ? Error{} : parsed.error();
  };
  for (const char* text :
       {"", "127.0.0.1", ":::1", "::1:7", "[127.0.0.1]:7", "[::1]", "[::1:7", "[]:7"}) {
    EXPECT_EQ(error_of(text).message,
              "'" + std::string(text) + "' is not of the form IPV4:PORT or [IPV6]:PORT");
  }
  for (const char* text :
       {"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "[::1]:7a", "127.0.0.1: 7"}) {
    EXPECT_EQ(error_of(text).message, "'" + std::string(text) + "' has no port from 0 to 65535");
  }
  for (const char* text : {"localhost", "127.0.0.256", "", "127.1"}) {
    EXPECT_EQ(error_of(std::string(text) + ":7").message,
              "'" + std::string(text) + "' is neither an IPv4 nor an IPv6 address");
  }
  EXPECT_EQ(error_of("[::g]:7").code, std::errc::invalid_argument);
  const Error gone = error_of("[fe80::1%nowhere0]:7");
  EXPECT_EQ(gone.code, std::errc::no_such_device);
  EXPECT_THAT(gone.message, HasSubstr("interface 'nowhere0'"));
}

TEST(Address, KnowsWhatItStandsFor) {
  const auto address = [](const char* text) { return Address::parse(text).value(); };
  EXPECT_TRUE(address("0.0.0.0").is_unspecified() && address("::").is_unspecified());
  EXPECT_FALSE(address("::1").is_unspecified() || address("0.0.0.1").is_unspecified());
  EXPECT_TRUE(address("127.9.9.9").is_loopback() && address("::1").is_loopback());
  EXPECT_FALSE(address("128.0.0.1").is_loopback() || address("::2").is_loopback());
  EXPECT_TRUE(address("::ffff:192.0.2.1").is_v4_mapped());
  EXPECT_FALSE(address("::fffe:192.0.2.1").is_v4_mapped() || address("192.0.2.1").is_v4_mapped());
  EXPECT_EQ(address("::ffff:192.0.2.1").mapped_v4(), address("192.0.2.1"));
  EXPECT_EQ(address("fe80::1%lo").scope_id(), ::if_nametoindex("lo"));
  EXPECT_NE(address("fe80::1%1"), address("fe80::1%2"));
}

}  // namespace
}  // namespace iwarp::verbs
