#include "fixture.hpp"

// why() tells why a connection is over, and nothing as long as it lives.
namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

class AsioWhy : public AsioTest {
 protected:
  // Both sides know that it is over.
  void expect_over() {
    told<message> by_client, by_server;
    client.async_receive(by_client.handler());
    server.async_receive(by_server.handler());
    ASSERT_TRUE(run_until([&] { return by_client.times == 1 && by_server.times == 1; }));
    ASSERT_FALSE(client.is_open());
    ASSERT_FALSE(server.is_open());
  }
};

TEST_F(AsioWhy, NothingBeforeAndWhileItLives) {
  EXPECT_EQ(client.why(), "");
  EXPECT_EQ(client.last_failure(), "");
  connect_pair();
  EXPECT_EQ(client.why(), "");
  EXPECT_EQ(server.why(), "");
  EXPECT_EQ(client.last_failure(), "");
}

TEST_F(AsioWhy, AFailedOperationOfTheLivingIsNotItsEnd) {
  connect_pair();
  const std::string large(1000, 'x');
  told<> first, second;
  client.async_send(net::buffer(large), first.handler());
  registered_buffer memory(client_domain, 8);
  client.async_write(memory, remote_buffer{Stag{1}, 0, 4}, second.handler());
  ASSERT_TRUE(run_until([&] { return first.times == 1 && second.times == 1; }));
  EXPECT_EQ(client.why(), "");
  EXPECT_THAT(client.last_failure(), HasSubstr("RDMA Write: 8 octets"));  // the latest
  client.async_shutdown(net::detached);
  expect_over();
  EXPECT_THAT(client.why(), testing::Not(HasSubstr("RDMA Write")));
}

TEST_F(AsioWhy, AGracefulEndIsToldOnBothSides) {
  connect_pair();
  told<> ended;
  client.async_shutdown(ended.handler());
  expect_over();
  ASSERT_TRUE(run_until([&] { return ended.times == 1; }));
  EXPECT_THAT(client.why(), HasSubstr("ended gracefully"));
  EXPECT_THAT(client.why(), HasSubstr("this side's program"));
  EXPECT_THAT(server.why(), HasSubstr("ended gracefully"));
  EXPECT_THAT(server.why(), HasSubstr("the peer's FIN"));
  EXPECT_EQ(client.last_failure(), "");
  EXPECT_EQ(server.last_failure(), "");
}

TEST_F(AsioWhy, ACloseIsToldAtOnce) {
  connect_pair();
  client.close();
  EXPECT_THAT(client.why(), HasSubstr("this side's program"));
}

TEST_F(AsioWhy, AConnectionThatDidNotComeAbout) {
  const endpoint gone = at.local_endpoint();
  at.close();
  told<> connected;
  client.async_connect(gone, connected.handler());
  ASSERT_TRUE(run_until([&] { return connected.times == 1; }));
  EXPECT_TRUE(connected.error);
  EXPECT_THAT(client.why(), HasSubstr("refused"));
}

TEST_F(AsioWhy, OneThatWasClosedBeforeItWasConnected) {
  client.close();
  EXPECT_THAT(client.why(), HasSubstr("this side"));
}

TEST_F(AsioWhy, ARejection) {
  told<> connected;
  at.async_request([](error_code, connection_request request) { request.reject(); });
  client.async_connect(at.local_endpoint(), connected.handler());
  ASSERT_TRUE(run_until([&] { return connected.times == 1; }));
  EXPECT_EQ(connected.error, errc::rejected);
  EXPECT_THAT(client.why(), HasSubstr("reject"));
}

TEST_F(AsioWhy, AFaultOfThePeerNamesTheOperationThatItFound) {
  connect_pair();
  registered_buffer memory(client_domain, 8);
  told<> read;
  client.async_read(memory, remote_buffer{Stag{0x77700}, 0, 8}, read.handler());
  ASSERT_TRUE(run_until([&] { return read.times == 1; }));
  EXPECT_EQ(read.error, errc::remote_access);
  expect_over();
  EXPECT_THAT(client.why(), HasSubstr("RDMA Read: remote access error; STag 0x00077700"));
  EXPECT_THAT(client.why(), HasSubstr("the peer terminated"));
  EXPECT_THAT(server.why(), HasSubstr("this side's stack"));
}

// The handler may run before all of the connection has heard of the end.
class AsioWhyInTheHandler : public PlainTest {
 protected:
  void SetUp() override {
    connect_pair();
    server.async_receive_into(memory, [this](error_code what, received) {
      error = what;
      open = server.is_open();
      why = server.why();
      done = true;
    });
  }

  registered_buffer memory{server_domain, 64};
  error_code error;
  std::string why;
  bool open = true, done = false;
};

TEST_F(AsioWhyInTheHandler, AGracefulEnd) {
  client.async_shutdown(net::detached);
  ASSERT_TRUE(run_until([this] { return done; }));
  EXPECT_EQ(error, net::error::eof);
  EXPECT_FALSE(open);
  EXPECT_THAT(why, HasSubstr("ended gracefully"));
}

TEST_F(AsioWhyInTheHandler, AFault) {
  server.async_send(text("nobody has a receive for it"), net::detached);
  ASSERT_TRUE(run_until([this] { return done; }));
  EXPECT_EQ(error.category(), received_terminate_category());
  EXPECT_FALSE(open);
  EXPECT_THAT(why, HasSubstr("the peer terminated"));
}

}  // namespace
}  // namespace iwarp::asio::test
