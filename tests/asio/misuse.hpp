#pragma once

#include "fixture.hpp"

namespace iwarp::asio::test {

/// Each misuse ends with an error code of its own, and last_failure() names what was wrong with
/// what.
class MisuseTest : public AsioTest {
 protected:
  registered_buffer there{
      server_domain, 4096,
      access_rights::kLocalWrite | access_rights::kRemoteRead | access_rights::kRemoteWrite};

  /// On a connection: the operation is refused here, as its caller's mistake. Nothing of it is
  /// sent, and the connection goes on.
  template <typename Start>
  void expect_refused(errc code, const std::string& words, Start start) {
    const std::uint64_t before = client.counters().fpdus_sent;
    const error_code error = end_of(start);
    EXPECT_EQ(error, code) << error.message();
    EXPECT_EQ(error, condition::misuse);
    EXPECT_THAT(client.last_failure(), testing::HasSubstr(words));
    EXPECT_THAT(client.last_failure(), testing::HasSubstr("queue pair"));
    EXPECT_EQ(client.counters().fpdus_sent, before);
    EXPECT_TRUE(client.is_open());
    EXPECT_EQ(client.why(), "");
    told<message> heard;
    server.async_receive(heard.handler());
    EXPECT_FALSE(end_of([&](auto handler) { client.async_send(text("it works"), handler); }));
    ASSERT_TRUE(run_until([&] { return heard.times == 1; }));
    EXPECT_EQ(text(heard.result), "it works");
  }
};

}  // namespace iwarp::asio::test
