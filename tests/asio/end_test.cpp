#include <thread>

#include "fixture.hpp"
#include "support/paused_peer.hpp"

// What has completed arrives at a peer that has read nothing so far, however the program ends.
namespace iwarp::asio::test {
namespace {

using iwarp::test::PausedPeer;

constexpr std::size_t kBacklog = 120;  // more than TCP takes
constexpr std::size_t kBacklogSize = 65536;

class AsioEnd : public testing::Test {
 protected:
  void connect() {
    std::thread peer_side([this] { peer.accept(); });
    told<> connected;
    connect_options plain;
    plain.mpa_revision = 1;
    plain.peer_to_peer = false;
    const endpoint to(net::ip::address_v4::loopback(), peer.port());
    client->async_connect(to, plain, connected.handler());
    run_until([&] { return connected.times == 1; });
    ASSERT_FALSE(connected.error) << client->why();
    peer_side.join();
  }
  // Starts all sends; TCP does not take all of them.
  void send_all() {
    for (std::size_t i = 0; i < kBacklog; ++i)
      client->async_send(here->part(0, kBacklogSize), sent.handler());
    run_until([this] { return sent.times >= 4; });
    io->restart();
    io->run_for(50ms);
    completed = static_cast<std::size_t>(sent.times);
    ASSERT_FALSE(sent.error) << sent.error.message();
  }
  template <typename Condition>
  void run_until(Condition done) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      io->restart();
      io->run_for(5ms);
    }
    ASSERT_TRUE(done());
  }
  // Reads behind the beginning of the end, which may wait for that.
  void end(const std::function<void()>& how) {
    std::thread reader([this] {
      std::this_thread::sleep_for(100ms);
      got = peer.read_to_end();
    });
    how();
    reader.join();
    EXPECT_EQ(got.error, 0) << std::strerror(got.error);
    EXPECT_GE(got.octets, completed * kBacklogSize);
  }

  PausedPeer peer;
  PausedPeer::Got got;
  std::unique_ptr<net::io_context> io = std::make_unique<net::io_context>(1);
  std::unique_ptr<device> on = std::make_unique<device>(*io);
  std::unique_ptr<domain> in = std::make_unique<domain>(*on);
  std::unique_ptr<registered_buffer> here = std::make_unique<registered_buffer>(*in, kBacklogSize);
  std::unique_ptr<connection> client = std::make_unique<connection>(*in);
  told<> sent;
  std::size_t completed = 0;
};

TEST_F(AsioEnd, ClosedConnectionDelivers) {
  connect();
  send_all();
  end([this] {
    client->close();
    run_until([this] { return static_cast<std::size_t>(sent.times) == kBacklog; });
  });
  EXPECT_EQ(sent.error, net::error::operation_aborted);
}

TEST_F(AsioEnd, DestroyedConnectionDelivers) {
  connect();
  send_all();
  end([this] { client.reset(); });
}

TEST_F(AsioEnd, ContextThatEndsBehindACloseDelivers) {
  connect();
  send_all();
  end([this] {
    client->close();
    io.reset();
    client.reset();
  });
}

TEST_F(AsioEnd, ContextThatEndsWithoutACloseDelivers) {
  connect();
  send_all();
  end([this] {
    io.reset();
    client.reset();
  });
}

TEST_F(AsioEnd, EverythingDestroyedAtOnceDelivers) {
  connect();
  send_all();
  end([this] {
    client.reset();
    here.reset();
    in.reset();
    on.reset();
    io.reset();
  });
}

}  // namespace
}  // namespace iwarp::asio::test
