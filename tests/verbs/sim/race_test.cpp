#include <utility>

#include "verbs/forwarding_stream.hpp"
#include "verbs/raw_peer.hpp"

// What other threads may do while a half of a queue pair is busy, at the very point where it is.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;

using Statuses = std::vector<Status>;

class Race : public testing::Test {
 protected:
  static PairOptions options() {
    PairOptions made = RawPair::without_rtr();
    made.net.send_buffer = made.net.receive_buffer = 4096;
    return made;
  }
  // Lets the queue pair receive something that leaves half an FPDU over.
  void let_it_receive() {
    const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(50)));
    pair.peer.send_octets(ConstBytes(octets).first(20));
  }
  // Lets it send more than the stream takes.
  void let_it_send() {
    const Sge from = pair.end.region(20'000, Access::kNone).sge();
    pair.peer.reads = false;
    post(pair.end, send_of(90, {&from, 1}));
  }

  RawPair pair{options()};
  Region& sink = pair.end.region(64, Access::kLocalWrite);
};

TEST_F(Race, AbortWhileReceivingFlushesReceives) {
  post(pair.end, RecvWr{1, {}});
  post(pair.end, RecvWr{2, {}});
  bool called = false;
  pair.end.host->inside_receive = [&] {
    called = true;
    pair.end.qp->abort();
  };
  let_it_receive();
  pair.run_for(1s);
  EXPECT_TRUE(called);
  EXPECT_EQ(statuses(pair.end.received), (Statuses{Status::kFlushed, Status::kFlushed}));
  EXPECT_EQ(pair.end.host->tails, 0);
}

TEST_F(Race, AbortWhileSendingFlushesRequestsAndReceives) {
  post(pair.end, RecvWr{1, {}});
  bool called = false;
  pair.end.host->inside_transmit = [&] {
    called = true;
    pair.end.qp->abort();
  };
  let_it_send();
  pair.run_for(1s);
  EXPECT_TRUE(called);
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kFlushed});
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
}

// The first completion that fails tells a program what ended the connection.
TEST_F(Race, ReceivesAreFlushedBehindRequestsThatAnotherThreadIsAboutToFlush) {
  post(pair.end, RecvWr{1, {}});
  pair.end.collects = false;
  std::size_t meanwhile = 1;
  pair.end.host->inside_transmit = [&] {
    pair.end.qp->abort();
    pair.end.collect();
    meanwhile = pair.end.received.size();
  };
  let_it_send();
  pair.run_for(1s);
  EXPECT_EQ(meanwhile, 0U);
  pair.end.collect();
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kFlushed});
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
}

// The receives wait for the Read, and the Read for the end of placing.
TEST_F(Race, AbortWhileReceivingFlushesReadsAndReceives) {
  const Sge to = sink.sge();
  post(pair.end, read_of(1, {&to, 1}, Stag{1}, 0));
  post(pair.end, RecvWr{2, {}});
  pair.run_for(1ms);
  bool called = false;
  pair.end.host->inside_receive = [&] {
    called = true;
    pair.end.qp->abort();
  };
  let_it_receive();
  pair.run_for(1s);
  EXPECT_TRUE(called);
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kFlushed});
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
}

TEST_F(Race, ReceivePostedWhileItsQueueIsFlushedIsFlushedToo) {
  pair.end.host->inside_receive = [&] {
    pair.end.qp->abort();
    post(pair.end, RecvWr{1, {}});
  };
  let_it_receive();
  pair.run_for(1s);
  EXPECT_EQ(statuses(pair.end.received), Statuses{Status::kFlushed});
}

TEST_F(Race, RequestPostedWhileItsQueueIsFlushedIsFlushedToo) {
  pair.end.host->inside_transmit = [&] {
    pair.end.qp->abort();
    post(pair.end, send_of(91, {}));
  };
  let_it_send();
  pair.run_for(1s);
  EXPECT_EQ(statuses(pair.end.sent), (Statuses{Status::kFlushed, Status::kFlushed}));
}

// A flushed Read's memory is the program's again, so nothing may be placing into it any more.
TEST_F(Race, ReadsAreFlushedOnlyWhenNothingIsPlacedAnyMore) {
  const Sge to = sink.sge();
  post(pair.end, read_of(1, {&to, 1}, Stag{1}, 0));
  pair.run_for(1ms);
  pair.end.collects = false;
  Completion completion;
  std::size_t meanwhile = 0;
  pair.end.host->inside_receive = [&] {
    pair.end.qp->abort();
    meanwhile = pair.end.send_cq->poll({&completion, 1});
  };
  let_it_receive();
  pair.run_for(1s);
  EXPECT_EQ(meanwhile, 0U);
  pair.end.collect();
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kFlushed});
}

// The engine looks for the halves of FPDUs where room for them becomes short.
TEST_F(Race, HalfAnFpduShowsWhenItIsAccountedFor) {
  std::optional<soft::HalfFpdu> half;
  pair.end.host->inside_receive = [&] { half = pair.end.qp->halves().half_fpdu(); };
  let_it_receive();
  pair.run_for(1ms);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->octets, 20U);
}

/// A stream that has nothing yet for the next read once there is something to happen just behind
/// it; from then on it takes nothing more.
class EmptyOnce final : public ForwardingStream {
 public:
  EmptyOnce(std::unique_ptr<tcp_offload::Stream> inner, std::function<void()>& happens)
      : ForwardingStream(std::move(inner)), happens_(happens) {}

  tcp_offload::Received receive(MutableBytes scratch) override {
    if (!happens_) return ForwardingStream::receive(scratch);
    takes_ = false;
    std::exchange(happens_, nullptr)();
    return {};
  }
  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    if (takes_) return ForwardingStream::send(pieces);
    return {tcp_offload::IoStatus::kLost, 0, std::make_error_code(std::errc::broken_pipe)};
  }

 private:
  std::function<void()>& happens_;
  bool takes_ = true;
};

// A peer that terminates and leaves: what it said is read though a send is refused, and tells it
// first, just between the read that found nothing and what is made of that.
TEST(EmptyRead, TerminateThatComesBehindItIsReadThoughTheWayOutIsLostMeanwhile) {
  std::function<void()> happens;
  RawPair pair(RawPair::without_rtr(), soft::Role::kInitiator,
               [&](std::unique_ptr<tcp_offload::Stream> inner) {
                 return std::make_unique<EmptyOnce>(std::move(inner), happens);
               });
  rdmap::Terminate message;
  message.cause = {rdmap::Layer::kDdp, 2, 0x02};
  pair.peer.send(segment(untagged(WireOpcode::kTerminate, 1), encoded(message)));
  pair.network.run_until([&] { pair.peer.turn(); }, [] { return false; }, 1ms);
  happens = [&] { post(pair.end, send_of(1, {})); };
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 1s));
  const auto came = pair.end.qp->terminate_received();
  ASSERT_TRUE(came);
  EXPECT_EQ(came->code, message.cause.code);
}

TEST_F(Race, RequestPostedWhileReceivingLeaves) {
  pair.end.host->inside_receive = [&] { post(pair.end, send_of(1, {})); };
  let_it_receive();
  pair.run_for(1ms);
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kSuccess});
  EXPECT_EQ(pair.peer.came.size(), 1U);
}

TEST_F(Race, RequestPostedWhileSendingLeaves) {
  pair.end.host->inside_transmit = [&] { post(pair.end, send_of(91, {})); };
  let_it_send();
  pair.peer.reads = true;
  ASSERT_TRUE(pair.run_until([&] { return pair.end.sent.size() == 2; }, 1s));
  EXPECT_EQ(ids(pair.end.sent), (std::vector<std::uint64_t>{90, 91}));
}

TEST_F(Race, DisconnectWhileSendingStillSendsEverything) {
  pair.end.host->inside_transmit = [&] { pair.end.qp->disconnect(); };
  let_it_send();
  pair.peer.reads = true;
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kSuccess});
  EXPECT_FALSE(pair.end.end_reason().code);
}

TEST_F(Race, DestructionWhileReceivingWaitsForItsEnd) {
  std::weak_ptr<soft::SoftQp> watched = pair.end.qp;
  pair.end.host->inside_receive = [&] { pair.end.qp.reset(); };
  let_it_receive();
  pair.end.collects = false;
  pair.network.run_until(
      [&] {
        pair.peer.turn();
        pair.end.host->turn();
      },
      [&] { return watched.expired(); }, 1s);
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(pair.end.host->tails, 0);
}

// Another thread destroys it in the middle of a half, for which it waits.
class Release : public Race {
 protected:
  Release() {
    pair.end.host->inside_wait = [this] { waits = true; };
  }
  ~Release() override {
    if (other.joinable()) other.join();
  }

  // To be called inside a half: returns when the other thread waits, or has come back too early.
  void destroy_elsewhere() {
    inside = true;
    other = std::thread([this] {
      pair.end.qp->release();
      came_back_inside = inside.load();
      released = true;
    });
    while (!waits.load() && !released.load()) std::this_thread::yield();
    inside = false;
  }
  void expect_that_it_waited() {
    ASSERT_TRUE(pair.run_until([&] { return other.joinable(); }, 1s));
    other.join();
    EXPECT_FALSE(came_back_inside);
  }

  std::thread other;
  std::atomic<bool> inside{false}, waits{false}, released{false}, came_back_inside{true};
};

TEST_F(Release, WaitsForTheThreadThatReceives) {
  pair.end.host->inside_receive = [this] { destroy_elsewhere(); };
  let_it_receive();
  expect_that_it_waited();
}

TEST_F(Release, WaitsForTheThreadThatSends) {
  pair.end.host->inside_transmit = [this] { destroy_elsewhere(); };
  let_it_send();
  expect_that_it_waited();
}

// The engine owns queue pairs while it serves them.
TEST_F(Race, WhatComesBehindAReleaseIsNotPlacedForAnotherOwner) {
  Region& target = pair.end.region(64, kRemote | Access::kLocalWrite);
  const auto owner = pair.end.qp;
  const auto write = [&](std::byte with) {
    pair.peer.send(segment(tagged(WireOpcode::kWrite, target.key(), TaggedOffset{target.to(0)}),
                           std::vector<std::byte>(64, with)));
    pair.run_for(1ms);
  };
  write(std::byte{1});
  ASSERT_EQ(target.memory.data()[0], std::byte{1});
  owner->release();
  owner->release();
  write(std::byte{2});
  EXPECT_EQ(target.memory.data()[0], std::byte{1});
}

}  // namespace
}  // namespace iwarp::verbs::simtest
