#include "misuse.hpp"

namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

/// Objects that cannot be made or started so, are already, or are no more.
class AsioMisusedObjects : public MisuseTest {};

TEST_F(AsioMisusedObjects, PoolOfAnotherDomain) {
  message_pool pool(server_domain, {.count = 4});
  try {
    connection wrong(client_domain, {.messages = &pool});
    FAIL() << "made with a pool of another domain";
  } catch (const boost::system::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("another domain"));
  }
}

TEST_F(AsioMisusedObjects, LimitsAboveTheDevices) {
  try {
    connection wrong(client_domain, {.max_sends = 1U << 30U});
    FAIL() << "made with a queue that no device has";
  } catch (const boost::system::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("max_send_wr"));
  }
}

TEST_F(AsioMisusedObjects, AListenerWhereOneIsSaysSoOnce) {
  try {
    acceptor second(on, at.local_endpoint());
    FAIL() << "two listen at one port";
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(error.code(), net::error::address_in_use);
    // Newer versions of Boost add where the code comes from.
    EXPECT_THAT(error.what(), testing::MatchesRegex("listening on .*: Address already in use.*"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("use: Address")));
  }
}

TEST_F(AsioMisusedObjects, NobodyListens) {
  const endpoint gone = at.local_endpoint();
  at.close();
  EXPECT_EQ(end_of([&](auto handler) { client.async_connect(gone, handler); }),
            net::error::connection_refused);
}

TEST_F(AsioMisusedObjects, ConnectTwice) {
  connect_pair();
  EXPECT_EQ(end_of([&](auto handler) { client.async_connect(at.local_endpoint(), handler); }),
            net::error::already_connected);
}

TEST_F(AsioMisusedObjects, AcceptWithImpossibleOptions) {
  const std::string long_data(600, 'x');
  told<connection> accepted;
  told<> connected;
  at.async_accept(server_domain, {}, {.private_data = net::buffer(long_data)}, accepted.handler());
  client.async_connect(at.local_endpoint(), connected.handler());
  ASSERT_TRUE(run_until([&] { return accepted.times == 1 && connected.times == 1; }));
  EXPECT_EQ(accepted.error, net::error::invalid_argument);
  EXPECT_TRUE(connected.error);
}

TEST_F(AsioMisusedObjects, AnswerARequestTwice) {
  told<> accepted, again;
  at.async_request([&](error_code, connection_request request) {
    request.async_accept(server, accepted.handler());
    request.async_accept(server, again.handler());
    EXPECT_EQ(request.reject(), net::error::already_started);
  });
  client.async_connect(at.local_endpoint(), net::detached);
  ASSERT_TRUE(run_until([&] { return accepted.times == 1 && again.times == 1; }));
  EXPECT_FALSE(accepted.error);
  EXPECT_EQ(again.error, net::error::already_started);
}

TEST_F(AsioMisusedObjects, ObjectsThatWereMovedFrom) {
  connection other = std::move(client);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what this is about
  EXPECT_EQ(end_of([&](auto handler) { client.async_send(text("hi"), handler); }),
            net::error::bad_descriptor);
  acceptor elsewhere = std::move(at);
  told<connection_request> asked;
  at.async_request(asked.handler());
  EXPECT_TRUE(run_until([&] { return asked.times == 1; }));
  EXPECT_EQ(asked.error, net::error::bad_descriptor);
  client.close();
  client.cancel();
  EXPECT_FALSE(client.is_open());
  EXPECT_EQ(client.why(), "");
  EXPECT_EQ(client.last_failure(), "");
}

}  // namespace
}  // namespace iwarp::asio::test
