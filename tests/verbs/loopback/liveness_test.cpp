#include "support/failing_sends.hpp"
#include "support/paused_peer.hpp"
#include "verbs/loopback_support.hpp"

// Peers that give no sign of life, over real sockets.
namespace iwarp::verbs::test {
namespace {

ConnectOptions plain() {
  ConnectOptions options;
  options.mpa_revision = 1;
  options.peer_to_peer = false;
  return options;
}

TEST(LoopbackLiveness, APeerThatTakesInNothingLosesItsConnection) {
  iwarp::test::PausedPeer peer;
  Side side;
  QpOptions options;
  options.signaling = Signaling::kAll;
  options.liveness.unacknowledged = 300ms;
  QueuePair qp = side.make_qp(options);
  std::thread peer_side([&] { peer.accept(); });
  must(qp.connect(Endpoint(Address::loopback(), peer.port()), plain()));
  peer_side.join();
  Buffer buffer(side.pd, std::size_t{32} << 20U, Access::kNone);  // more than TCP takes
  const Sge what = buffer.sge();
  ASSERT_TRUE(qp.post_send(send_of(1, {&what, 1})));
  const auto done = side.cq.wait(kPatience);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, Status::kFlushed);
  EXPECT_NE(qp.diagnosis().sentence.find("timed out"), std::string::npos)
      << qp.diagnosis().sentence;
}

TEST(LoopbackLiveness, TheListenersCountsForWhatItAccepts) {
  Side client, server;
  ListenOptions listening;
  listening.liveness.emplace().idle = 200ms;
  auto listener = must(server.device.listen(kAnyPort, listening));
  QueuePair client_qp = client.make_qp(), server_qp = server.make_qp();
  std::thread acceptor([&] {
    auto request = listener.next(kPatience);
    if (request) static_cast<void>(request->accept(server_qp));
  });
  static_cast<void>(client_qp.connect(listener.endpoint()));  // the end may overtake the answer
  acceptor.join();
  ASSERT_TRUE(eventually([&] { return server_qp.state() == QpState::kError; }));
  EXPECT_NE(server_qp.diagnosis().sentence.find("nothing was sent or received for 200 ms"),
            std::string::npos)
      << server_qp.diagnosis().sentence;
  ASSERT_TRUE(eventually([&] { return client_qp.state() == QpState::kError; }));
}

TEST(LoopbackLiveness, TimesOutOfBoundsAreRefused) {
  Side side;
  for (const std::chrono::milliseconds time : {-1ms, 24h + 1ms}) {
    for (const Liveness& wrong :
         {Liveness{.unacknowledged = time}, {.keep_alive = time}, {.idle = time}}) {
      QpOptions options;
      options.liveness = wrong;
      const auto qp = side.pd.create_qp(side.cq, options);
      ASSERT_FALSE(qp);
      EXPECT_EQ(qp.error().code, std::errc::invalid_argument);
      ListenOptions listening;
      listening.liveness = wrong;
      const auto listener = side.device.listen(kAnyPort, listening);
      ASSERT_FALSE(listener);
      EXPECT_EQ(listener.error().code, std::errc::invalid_argument);
    }
  }
}

// ENOBUFS of sendmsg(2) while the socket has room: the engine, which is alone here, tries again,
// and not all the time.
TEST(LoopbackLiveness, WantOfMemoryToSendWithPasses) {
  LoopbackPair pair;
  Buffer to(pair.server.pd, 1000, Access::kLocalWrite);
  Buffer from(pair.client.pd, 1000, Access::kNone, std::byte{7});
  const Sge into = to.sge();
  const Sge what = from.sge();
  ASSERT_TRUE(pair.server_qp.post_receive({.wr_id = 1, .sges = {&into, 1}}));
  {
    const iwarp::test::FailingSends failing(ENOBUFS);
    ASSERT_TRUE(pair.client_qp.post_send(send_of(2, {&what, 1})));
    ASSERT_TRUE(eventually([&] { return failing.count() >= 6; }));
    EXPECT_LT(failing.count(), 100) << "they come less and less often";
    EXPECT_EQ(pair.client_qp.state(), QpState::kRts);
  }
  const auto got = pair.server.cq.wait(kPatience);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, Status::kSuccess);
  EXPECT_EQ(to.memory, from.memory);
}

}  // namespace
}  // namespace iwarp::verbs::test
