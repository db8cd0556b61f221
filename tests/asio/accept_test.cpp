#include <array>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "fixture.hpp"

/// The passive side: when it is told of a connection, and what it is told before anything else.
namespace iwarp::asio::test {
namespace {

using net::ip::tcp;

/// A peer that asks for a peer-to-peer connection and never sends its RTR indication.
class SilentPeer {
 public:
  SilentPeer(net::io_context& io, const endpoint& to) : socket_(io) {
    constexpr std::string_view kRequest{"MPA ID Req Frame\x50\x02\x00\x04\x80\x01\x80\x01", 24};
    socket_.connect(to);
    net::write(socket_, text(kRequest));
  }
  void read_reply() {
    std::array<char, 24> reply{};
    net::read(socket_, net::buffer(reply));
  }
  void leave() { socket_.close(); }

 private:
  tcp::socket socket_;
};

using AsioAccept = AsioTest;

TEST_F(AsioAccept, IsDoneThoughThePeerSaysNothing) {
  SilentPeer peer(io, at.local_endpoint());
  told<connection> silent, lively;
  told<> connected;
  at.async_accept(server_domain, connection_options{.message_count = 2}, silent.handler());
  ASSERT_TRUE(run_until([&] { return silent.times == 1; }));
  ASSERT_FALSE(silent.error) << silent.error.message();
  peer.read_reply();
  EXPECT_TRUE(silent.result.is_open());

  at.async_accept(server_domain, lively.handler());
  client.async_connect(at.local_endpoint(), connected.handler());
  ASSERT_TRUE(run_until([&] { return connected.times == 1 && lively.times == 1; }));
  EXPECT_FALSE(connected.error || lively.error);

  told<message> waited;
  silent.result.async_receive(waited.handler());
  peer.leave();
  ASSERT_TRUE(run_until([&] { return waited.times == 1; }));
  EXPECT_EQ(waited.error, net::error::eof);
}

TEST_F(AsioAccept, EndsBeforeTheFirstMessageIsHanded) {
  for (int round = 0; round < 50; ++round) {
    connection from(client_domain), to(server_domain, {.message_count = 2});
    std::string order;
    to.async_receive([&](error_code error, const message&) { order += error ? "!" : "m"; });
    at.async_request([&](error_code, connection_request request) {
      request.async_accept(to, [&](error_code error) { order += error ? "!" : "a"; });
    });
    from.async_connect(at.local_endpoint(),
                       [&](error_code) { from.async_send(text("at once"), net::detached); });
    ASSERT_TRUE(run_until([&] { return order.size() == 2; }));
    ASSERT_EQ(order, "am") << "round " << round;
  }
}

TEST_F(AsioAccept, RejectionIsToldBeforeReceivesEnd) {
  registered_buffer place(client_domain, 16);
  for (int round = 0; round < 50; ++round) {
    connection from(client_domain);
    std::string order;
    from.async_receive_into(place.part(0, 16), [&](error_code, received) { order += "r"; });
    at.async_request([&](error_code, connection_request request) { request.reject(); });
    from.async_connect(at.local_endpoint(), [&](error_code error) {
      EXPECT_EQ(error, errc::rejected);
      order += "c";
    });
    ASSERT_TRUE(run_until([&] { return order.size() == 2; }));
    ASSERT_EQ(order, "cr") << "round " << round;
  }
}

}  // namespace
}  // namespace iwarp::asio::test
