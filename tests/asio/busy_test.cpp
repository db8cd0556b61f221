#include <thread>

#include "asio/fixture.hpp"

// An execution context that has other things to do than to look after its connections.
namespace iwarp::asio::test {
namespace {

namespace verbs = iwarp::verbs;

/// A peer with threads of its own.
class OutsidePeer {
 public:
  void connect(const endpoint& to) {
    thread_ = std::thread([this, to] { connected_ = static_cast<bool>(qp_.connect(to)); });
  }
  bool await_connected() {
    thread_.join();
    return connected_;
  }

  /// An RDMA Read of nothing: it is answered when a thread at the other end has read the socket.
  /// False if that takes too long.
  bool read_completes() {
    verbs::SendWr request{.wr_id = 1, .opcode = verbs::Opcode::kRead};
    if (!qp_.post_send(request)) return false;
    const auto done = cq_.wait(kPatience);
    return done && done->status == verbs::Status::kSuccess;
  }
  bool send() {
    if (!qp_.post_send(verbs::SendWr{.wr_id = 2})) return false;
    const auto done = cq_.wait(kPatience);
    return done && done->wr_id == 2 && done->status == verbs::Status::kSuccess;
  }

 private:
  template <typename T>
  static T must(verbs::Outcome<T> outcome) {
    return std::move(outcome).value();
  }
  // More than anything here takes, and no test depends on being faster.
  static constexpr auto kPatience = 20s;

  verbs::Device device_ = must(verbs::Device::open());
  verbs::ProtectionDomain pd_ = must(device_.alloc_pd());
  verbs::CompletionQueue cq_ = must(device_.create_cq(16));
  verbs::QueuePair qp_ = must(pd_.create_qp(cq_, {}));
  bool connected_ = false;
  std::thread thread_;
};

class BusyContext : public AsioTest {
 protected:
  // The context has nothing to do but to wait for the peer.
  void connect_and_fall_asleep() {
    told<> accepted;
    at.async_request([&](error_code error, connection_request request) {
      ASSERT_FALSE(error) << error.message();
      request.async_accept(server, connect_options{}, accepted.handler());
    });
    peer.connect(at.local_endpoint());
    ASSERT_TRUE(run_until([&] { return accepted.times == 1; }));
    ASSERT_TRUE(peer.await_connected());
    server.async_receive(got.handler());
    // Messages that it wakes up for: from then on its socket is left to it.
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(peer.send());
      ASSERT_TRUE(run_until([&] { return got.times == i; }));
      server.async_receive(got.handler());
    }
    io.restart();
    io.run_for(20ms);
  }

  OutsidePeer peer;
  told<message> got;
};

// The gate is the peer's Read: the handler goes on when that has completed.
TEST_F(BusyContext, HandlerThatTakesItsTimeDoesNotKeepThePeerWaiting) {
  connect_and_fall_asleep();
  bool completed = false;
  net::post(io, [&] { completed = peer.read_completes(); });
  io.restart();
  io.run_one();
  EXPECT_TRUE(completed);
  // And the context wakes up for what is its own, as before.
  ASSERT_TRUE(peer.send());
  EXPECT_TRUE(run_until([&] { return got.times == 4; }));
}

TEST_F(BusyContext, ContextThatIsNotRunDoesNotKeepThePeerWaiting) {
  connect_and_fall_asleep();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(peer.read_completes());
  ASSERT_TRUE(peer.send());
  EXPECT_TRUE(run_until([&] { return got.times == 4; }));
}

}  // namespace
}  // namespace iwarp::asio::test
