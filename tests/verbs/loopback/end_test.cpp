#include <thread>

#include "support/paused_peer.hpp"
#include "verbs/loopback_support.hpp"

// What has completed arrives, whatever the program does next, at a peer that has read nothing so
// far: over real sockets, with the octets in their buffers.
namespace iwarp::verbs::test {
namespace {

constexpr std::size_t kBacklog = 120;  // more than TCP takes
constexpr std::size_t kBacklogSize = 65536;

class LoopbackEnd : public testing::Test {
 protected:
  void connect(QpOptions options = {}) {
    options.capacity.max_send_wr = kBacklog;
    options.signaling = Signaling::kAll;
    qp.emplace(must(pd.create_qp(cq, std::move(options))));
    std::thread peer_side([this] { peer.accept(); });
    ConnectOptions plain;
    plain.mpa_revision = 1;
    plain.peer_to_peer = false;
    must(qp->connect(Endpoint(Address::loopback(), peer.port()), plain));
    peer_side.join();
  }
  // Sends until TCP takes no more; the octets of those that have completed.
  std::size_t send_all() {
    const Sge what = buffer.sge();
    for (std::size_t i = 0; i < kBacklog; ++i) EXPECT_TRUE(qp->post_send(send_of(i, {&what, 1})));
    std::size_t completed = 0;
    while (completed < kBacklog) {
      const auto done = cq.wait(completed < 4 ? 10s : 50ms);
      if (!done || done->status != Status::kSuccess) break;
      ++completed;
    }
    EXPECT_GE(completed, 4U) << "the buffers hold at least these";
    return completed * kBacklogSize;
  }

  iwarp::test::PausedPeer peer;
  Device device = must(Device::open());
  ProtectionDomain pd = must(device.alloc_pd());
  CompletionQueue cq = must(device.create_cq(256));
  Buffer buffer{pd, kBacklogSize, Access::kNone, std::byte{0x42}};
  std::optional<QueuePair> qp;
};

TEST_F(LoopbackEnd, DrainingResetsNothing) {
  connect();
  const std::size_t completed = send_all();
  EXPECT_TRUE(qp->drain(10s));
  const auto got = peer.read_to_end();
  EXPECT_EQ(got.error, 0) << std::strerror(got.error);
  EXPECT_GE(got.octets, completed);
}

TEST_F(LoopbackEnd, DrainingBehindADisconnectResetsNothingEither) {
  connect();
  const std::size_t completed = send_all();
  qp->disconnect();
  EXPECT_TRUE(qp->drain(10s));
  const auto got = peer.read_to_end();
  EXPECT_EQ(got.error, 0) << std::strerror(got.error);
  EXPECT_GE(got.octets, completed);
}

TEST_F(LoopbackEnd, ClosingFlushesAtOnceAndDelivers) {
  connect();
  const std::size_t completed = send_all();
  qp->close();
  std::size_t ended = completed / kBacklogSize;
  for (; ended < kBacklog; ++ended) {
    const auto flushed = cq.wait(10s);
    ASSERT_TRUE(flushed) << "while the peer reads nothing";
    EXPECT_EQ(flushed->status, Status::kFlushed);
  }
  const auto got = peer.read_to_end();
  EXPECT_EQ(got.error, 0) << std::strerror(got.error);
  EXPECT_GE(got.octets, completed);
}

TEST_F(LoopbackEnd, DestroyingEverythingWaitsForASlowPeer) {
  connect();
  const std::size_t completed = send_all();
  std::thread reader;
  iwarp::test::PausedPeer::Got got;
  reader = std::thread([&] {
    // Behind the beginning of the end.
    std::this_thread::sleep_for(100ms);
    got = peer.read_to_end();
  });
  qp.reset();
  reader.join();
  EXPECT_EQ(got.error, 0) << std::strerror(got.error);
  EXPECT_GE(got.octets, completed);
}

// The time is an option: a program that cannot wait is told.
TEST_F(LoopbackEnd, SilenceBeyondTheLimitIsTold) {
  std::atomic<int> told{0};
  ConnectionEvent last;
  QpOptions options;
  options.linger = 300ms;
  options.on_event = [&](const ConnectionEvent& event) {
    last = event;
    ++told;
  };
  connect(std::move(options));
  send_all();
  qp->disconnect();
  ASSERT_TRUE(eventually([&] { return told.load() == 2; }));
  EXPECT_EQ(last.kind, ConnectionEvent::Kind::kDisconnected);
  EXPECT_TRUE(last.error.code) << "octets were reported done that the peer has not got";
  EXPECT_FALSE(qp->diagnosis().graceful);
  qp.reset();
}

TEST_F(LoopbackEnd, LingerHasLimits) {
  for (const auto time : {std::chrono::milliseconds(-1), std::chrono::milliseconds(3'600'001)}) {
    QpOptions options;
    options.linger = time;
    const auto made = pd.create_qp(cq, std::move(options));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, std::errc::invalid_argument);
    EXPECT_NE(made.error().message.find("linger"), std::string::npos);
  }
}

}  // namespace
}  // namespace iwarp::verbs::test
