#include "address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "context.hpp"

namespace iwarp::cli {
namespace {

/// The exit status that `call` ends with; kDone if it does not throw.
template <typename Call>
ExitStatus status_of(Call call) {
  try {
    call();
  } catch (const CommandError& error) {
    return error.status();
  }
  return ExitStatus::kDone;
}

TEST(HostPort, TakesNamesAndAddressesWithAndWithoutPort) {
  const struct {
    const char* text;
    const char* host;
    std::uint16_t port;
    const char* written;
  } kCases[] = {
      {"localhost", "localhost", 7471, "localhost:7471"},
      {"10.0.0.2:1", "10.0.0.2", 1, "10.0.0.2:1"},
      {"host.example:65535", "host.example", 65535, "host.example:65535"},
      {"[::1]", "::1", 7471, "[::1]:7471"},
      {"[fe80::1%eth0]:80", "fe80::1%eth0", 80, "[fe80::1%eth0]:80"},
  };
  for (const auto& c : kCases) {
    const HostPort parsed = parse_host_port(c.text);
    EXPECT_EQ(parsed.host, c.host);
    EXPECT_EQ(parsed.port, c.port);
    EXPECT_EQ(to_string(parsed), c.written);
  }
}

TEST(HostPort, TakesThePortOfTheCallerWhereNoneIsGiven) {
  for (const char* text : {"host", "[::1]"}) {
    EXPECT_EQ(parse_host_port(text, PortZero::kRefused, 7470).port, 7470) << text;
  }
  EXPECT_EQ(parse_host_port("host:1", PortZero::kRefused, 7470).port, 1);
}

TEST(HostPort, RefusesWhatIsMalformedAsWrongUsage) {
  for (const char* text : {"", ":1", "host:", "host:x", "host:1x", "host:-1", "host:65536", "::1",
                           "a:1:2", "[::1", "[::1]1", "[::1]:", "[host]:1", "[]:1", "host:0"}) {
    EXPECT_EQ(status_of([&] { parse_host_port(text); }), ExitStatus::kUsage) << text;
  }
}

TEST(HostPort, TakesPortZeroOnlyToListenOn) {
  EXPECT_EQ(parse_host_port("127.0.0.1:0", PortZero::kAllowed).port, 0);
  EXPECT_EQ(status_of([] { parse_host_port("127.0.0.1:0"); }), ExitStatus::kUsage);
}

TEST(Url, SplitsServerAndName) {
  const Url url = parse_url("iwarp://host:12/dir/name.txt");
  EXPECT_EQ(url.server.host, "host");
  EXPECT_EQ(url.server.port, 12);
  EXPECT_EQ(url.name, "dir/name.txt");
  EXPECT_EQ(parse_url("iwarp://[::1]/").name, "");
  EXPECT_EQ(parse_url("iwarp://h/?a=b#c").name, "?a=b#c");
}

TEST(Url, DecodesPercentSigns) {
  EXPECT_EQ(parse_url("iwarp://h/a%20b%2f%C3%a4").name, "a b/\xC3\xA4");
  EXPECT_EQ(parse_url("iwarp://h/%00").name, std::string(1, '\0'));
  EXPECT_EQ(parse_url("iwarp://h/%41").name, "A");
}

TEST(Url, RefusesWhatIsMalformedAsWrongUsage) {
  for (const char* text :
       {"", "iwarp://", "iwarp://h", "iwarp:/h/x", "http://h/x", "IWARP://h/x", "iwarp:///x",
        "iwarp://h:0/x", "iwarp://h/%", "iwarp://h/%4", "iwarp://h/%4g"}) {
    EXPECT_EQ(status_of([&] { parse_url(text); }), ExitStatus::kUsage) << text;
  }
}

TEST(Resolve, FindsTheLoopbackAndNamesWhatItDoesNotFind) {
  EXPECT_EQ(to_string(resolve({"127.0.0.1", 5}).front()), "127.0.0.1:5");
  EXPECT_EQ(to_string(resolve({"::1", 5}).front()), "[::1]:5");
  EXPECT_EQ(status_of([] { resolve({"no-such-host.invalid", 5}); }), ExitStatus::kFailed);
}

}  // namespace
}  // namespace iwarp::cli
