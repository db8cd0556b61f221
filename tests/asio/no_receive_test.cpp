#include "fixture.hpp"

namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

/// Receives that are refused, and messages for which there is none or none so long.
class AsioNoReceive : public PlainTest {};

TEST_F(AsioNoReceive, AReceiveIntoMemoryWithoutLocalWriteIsRefused) {
  connect_pair();
  registered_buffer closed(server_domain, 64, access_rights::kNone);
  registered_buffer open(server_domain, 64);
  told<received> refused, got;
  server.async_receive_into(closed, refused.handler());
  server.async_receive_into(open, got.handler());
  ASSERT_TRUE(run_until([&] { return refused.times == 1; }));
  EXPECT_EQ(refused.error, errc::not_writable);
  EXPECT_THAT(server.last_failure(), HasSubstr("receive: 64 octets at"));
  client.async_send(text("hi"), net::detached);
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_FALSE(got.error) << got.error.message();
}

TEST_F(AsioNoReceive, AStartThatCannotBeEndsTheReceivesToo) {
  registered_buffer memory(client_domain, 64);
  const std::string long_data(600, 'x');
  told<received> waiting;
  told<> connected;
  client.async_receive_into(memory, waiting.handler());
  client.async_connect(at.local_endpoint(), {.private_data = net::buffer(long_data)},
                       connected.handler());
  ASSERT_TRUE(run_until([&] { return connected.times == 1 && waiting.times == 1; }));
  EXPECT_EQ(connected.error, net::error::invalid_argument);
  EXPECT_TRUE(waiting.error);
  EXPECT_THAT(client.why(), HasSubstr("rivate data"));
}

TEST_F(AsioNoReceive, ASendThatFindsNoneEndsTheConnectionAndSaysSo) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  told<received> waiting;
  client.async_receive_into(memory, waiting.handler());
  client.async_send(text("nobody listens"), net::detached);
  ASSERT_TRUE(run_until([&] { return waiting.times == 1; }));
  EXPECT_EQ(waiting.error.category(), received_terminate_category());
  EXPECT_THAT(waiting.error.message(), HasSubstr("the peer terminated: DDP"));
  EXPECT_THAT(client.why(), HasSubstr("Terminate 1/2/0x02"));  // no buffer available
}

TEST_F(AsioNoReceive, AMessageLongerThanItsReceiveSaysHowLongThatWas) {
  registered_buffer memory(server_domain, 4);
  told<received> got;
  server.async_receive_into(memory, got.handler());
  connect_pair();
  client.async_send(text("too long"), net::detached);
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::message_too_long);
  EXPECT_NE(got.error, condition::misuse);
  EXPECT_THAT(server.last_failure(), HasSubstr("longer than the 4 octets"));
  ASSERT_TRUE(run_until([&] { return !server.is_open(); }));
  EXPECT_THAT(server.why(), HasSubstr("longer than the 4 octets"));
}

TEST_F(AsioNoReceive, WithoutAPoolThereIsNothingToTakeMessagesFrom) {
  told<message> got;
  client.async_receive(got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.error, errc::no_message_pool);
}

}  // namespace
}  // namespace iwarp::asio::test
