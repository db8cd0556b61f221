#include "verbs/forwarding_stream.hpp"
#include "verbs/raw_peer.hpp"
#include "verbs/sim_harness.hpp"

// Liveness: what TCP is told of it, and the limit that is the stack's own.
namespace iwarp::verbs::simtest {
namespace {

constexpr auto kLimit = 10s;

PairOptions with_limit() {
  PairOptions options = RawPair::without_rtr();
  options.client.liveness.idle = kLimit;
  return options;
}

class Idle : public testing::Test {
 protected:
  void send_from_peer(std::uint32_t msn) { peer.send(segment(untagged(WireOpcode::kSend, msn))); }
  void post_receive(std::uint64_t id) {
    const Sge to = inbox.sge();
    post(end, RecvWr{id, {&to, 1}});
  }

  RawPair pair{with_limit()};
  SimEnd& end = pair.end;
  RawPeer& peer = pair.peer;
  Region& inbox = end.region(1000, Access::kLocalWrite);
  Region& outbox = end.region(1000, Access::kNone);
};

TEST_F(Idle, ConnectionEndsBeyondTheLimit) {
  post_receive(1);
  pair.run_for(kLimit - 1s);
  EXPECT_FALSE(end.closed());
  ASSERT_TRUE(pair.run_until([&] { return end.closed(); }, 2s));
  pair.run_for(1s);
  expect_broken(end, "nothing was sent or received for 10 s");
  EXPECT_EQ(statuses(end.received), std::vector{Status::kFlushed});
  EXPECT_TRUE(peer.lost);
}

TEST_F(Idle, WhatThePeerSendsBeginsTheTimeAnew) {
  for (std::uint32_t msn = 1; msn <= 5; ++msn) {
    post_receive(msn);
    send_from_peer(msn);
    pair.run_for(kLimit - 1s);
    ASSERT_FALSE(end.closed()) << msn;
  }
  EXPECT_EQ(end.received.size(), 5U);
}

TEST_F(Idle, WhatIsSentBeginsTheTimeAnew) {
  for (std::uint64_t id = 1; id <= 5; ++id) {
    const Sge from = outbox.sge();
    post(end, send_of(id, {&from, 1}));
    pair.run_for(kLimit - 1s);
    ASSERT_FALSE(end.closed()) << id;
  }
}

// The engine may have been kept from reading for long.
TEST_F(Idle, WhatLiesInTheSocketCounts) {
  post_receive(1);
  pair.run_for(kLimit - 500ms);
  end.host->deaf = true;
  send_from_peer(1);
  pair.run_for(100ms);
  end.host->jumped += 1s;
  ASSERT_TRUE(pair.run_until([&] { return !end.received.empty(); }, 10s));
  EXPECT_EQ(statuses(end.received), std::vector{Status::kSuccess});
  EXPECT_FALSE(end.closed());
}

TEST_F(Idle, PeerThatTakesInSlowlyIsNotIdle) {
  PairOptions options = with_limit();
  options.net.send_buffer = options.net.receive_buffer = 4096;
  RawPair stuck(options);
  stuck.peer.reads = false;
  Region& source = stuck.end.region(50'000, Access::kNone);
  const Sge from = source.sge();
  post(stuck.end, send_of(1, {&from, 1}));
  stuck.run_for(kLimit - 1s);
  stuck.peer.reads = true;  // for a moment
  stuck.turn();
  stuck.peer.reads = false;
  stuck.run_for(kLimit - 1s);
  EXPECT_FALSE(stuck.end.closed());
  stuck.run_for(3s);
  EXPECT_TRUE(stuck.end.closed());
}

/// A stream that keeps what it is told to watch for.
class WatchingStream final : public ForwardingStream {
 public:
  WatchingStream(std::unique_ptr<tcp_offload::Stream> inner, tcp_offload::PeerWatch& watch)
      : ForwardingStream(std::move(inner)), watch_(watch) {}
  void watch_peer(const tcp_offload::PeerWatch& watch) override { watch_ = watch; }

 private:
  tcp_offload::PeerWatch& watch_;
};

tcp_offload::PeerWatch watch_of(const Liveness& liveness, std::chrono::milliseconds linger) {
  PairOptions options;
  options.client.liveness = liveness;
  options.client.timeouts.linger = linger;
  tcp_offload::PeerWatch watch{1ms, 1s};
  const SimPair pair(options, [&](std::unique_ptr<tcp_offload::Stream> inner) {
    return std::make_unique<WatchingStream>(std::move(inner), watch);
  });
  return watch;
}

TEST(PeerWatch, IsWhatTheProgramWants) {
  const auto watch = watch_of({.unacknowledged = 20s, .keep_alive = 1500ms}, 60s);
  EXPECT_EQ(watch.unacknowledged, 20s);
  EXPECT_EQ(watch.keep_alive, 2s);
}

TEST(PeerWatch, GrantsASlowPeerAsMuchAsTheEndDoes) {
  EXPECT_EQ(watch_of({}, 90s).unacknowledged, 90s);
  EXPECT_EQ(watch_of({}, 5s).unacknowledged, 60s);
}

TEST(PeerWatch, IsNoneWhereThereIsNoLimit) {
  EXPECT_EQ(watch_of({}, 90s).keep_alive, 30s);
  const auto watch = watch_of({.unacknowledged = 0s, .keep_alive = 0s}, 90s);
  EXPECT_EQ(watch.unacknowledged, 0s);
  EXPECT_EQ(watch.keep_alive, 0s);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
