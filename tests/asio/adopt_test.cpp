#include <boost/asio/connect.hpp>

#include "fixture.hpp"

namespace iwarp::asio::test {
namespace {

using net::ip::tcp;

/// Two ends of a TCP connection that is to become an iWARP connection.
class AsioAdopt : public AsioTest {
 protected:
  AsioAdopt() {
    tcp::acceptor door(io, endpoint(net::ip::make_address("127.0.0.1"), 0));
    near.connect(door.local_endpoint());
    door.accept(far);
  }

  tcp::socket near{io};
  tcp::socket far{io};
};

TEST_F(AsioAdopt, BothEndsGoOnInRdmaMode) {
  told<> adopted, accepted;
  async_await_request(on, std::move(far), {}, await_options{},
                      [&](error_code error, connection_request request) {
                        ASSERT_FALSE(error) << error.message();
                        request.async_accept(server, accepted.handler());
                      });
  client.async_adopt(std::move(near), {}, connect_options{}, adopted.handler());
  ASSERT_TRUE(run_until([&] { return adopted.times == 1 && accepted.times == 1; }));
  EXPECT_FALSE(adopted.error) << adopted.error.message();
  told<message> got;
  client.async_send(text("adopted"), net::detached);
  server.async_receive(got.handler());
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(text(got.result), "adopted");
}

TEST_F(AsioAdopt, APeerThatSaysNothingIsWaitedForOnlySoLong) {
  told<connection_request> asked;
  async_await_request(on, std::move(far), {}, await_options{.timeout = 50ms}, asked.handler());
  ASSERT_TRUE(run_until([&] { return asked.times == 1; }));
  EXPECT_EQ(asked.error, net::error::timed_out);
  EXPECT_FALSE(asked.result);
  ASSERT_TRUE(run_to_end());
}

TEST_F(AsioAdopt, ASocketThatIsNoneFailsOnEitherSide) {
  told<connection_request> asked;
  told<> adopted;
  async_await_request(on, tcp::socket(io), {}, await_options{}, asked.handler());
  client.async_adopt(tcp::socket(io), {}, connect_options{}, adopted.handler());
  ASSERT_TRUE(run_until([&] { return asked.times == 1 && adopted.times == 1; }));
  EXPECT_EQ(asked.error, net::error::bad_descriptor);
  EXPECT_EQ(adopted.error, net::error::bad_descriptor);
  ASSERT_TRUE(run_to_end());
}

TEST(AsioAdoption, IsDroppedWithTheContext) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> observed = alive;
  {
    net::io_context io;
    device on(io);
    tcp::acceptor door(io, endpoint(net::ip::make_address("127.0.0.1"), 0));
    tcp::socket near(io), far(io);
    near.connect(door.local_endpoint());
    door.accept(far);
    async_await_request(on, std::move(far), {}, await_options{},
                        [kept = std::move(alive)](error_code, const connection_request&) {});
    io.poll();
  }
  EXPECT_TRUE(observed.expired());
}

}  // namespace
}  // namespace iwarp::asio::test
