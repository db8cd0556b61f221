#include <array>

#include "verbs/sim_harness.hpp"

// What a queue pair may take of a shared receive queue that has shares, as others take from it, the
// program keeps buffers, and queue pairs go.
namespace iwarp::verbs::simtest {
namespace {

class ReceiveShares : public testing::Test {
 protected:
  static constexpr std::uint32_t kShare = 2;
  static constexpr std::uint32_t kReceives = 8;
  static constexpr std::uint32_t kReceiveSize = 4096;

  ReceiveShares() : pair(options()) {}
  static PairOptions options() {
    PairOptions made;
    made.server.srq = provider::SrqOptions{.max_wr = kReceives, .max_sge = 1, .share = kShare};
    return made;
  }
  // Another client, whose receives complete in that queue.
  struct Connection {
    std::shared_ptr<soft::SoftQp> client, server;
  };
  Connection connect(const std::shared_ptr<soft::SoftCq>& recv_cq) {
    auto streams = pair.network.net.make_stream_pair();
    soft::SoftQpInit init = pair.server.init_of({}, next_number++);
    init.recv_cq = recv_cq;
    Connection made{pair.client.make_qp({}, next_number++), soft::SoftQp::make(std::move(init))};
    enter(*made.server, std::move(streams.acceptor), soft::Role::kResponder);
    enter(*made.client, std::move(streams.connector), soft::Role::kInitiator);
    return made;
  }
  static void enter(soft::SoftQp& qp, std::unique_ptr<tcp_offload::Stream> stream,
                    soft::Role role) {
    soft::RdmaMode mode;
    mode.stream = std::move(stream);
    mode.role = role;
    mode.agreed = agreed_by({}, role);
    mode.rtr = role == soft::Role::kInitiator ? PairOptions{}.rtr : mpa::Rtr::kNone;
    ASSERT_TRUE(qp.responder()->begin_startup());
    qp.responder()->finish_startup(std::move(mode));
  }
  std::shared_ptr<soft::SoftCq> another_cq(std::uint32_t depth) {
    return std::make_shared<soft::SoftCq>(services_of(pair.server.host), depth, 77);
  }

  bool post_shared(std::uint64_t wr_id) {
    const Sge to = inbox.sge(0, kReceiveSize);
    const RecvWr request{.wr_id = wr_id, .sges = {&to, 1}};
    return pair.server.srq->post_receive({&request, 1}).has_value();
  }
  void post_all(std::uint64_t first = 0) {
    for (std::uint64_t i = 0; i < kReceives; ++i) ASSERT_TRUE(post_shared(first + i));
  }
  void send(const Connection& over) {
    const SendWr request = send_of(0, {});
    ASSERT_TRUE(over.client->post_send({&request, 1}));
    pair.run_for(1ms);
  }
  // Sends one, whose buffer the program has then: its wr_id.
  std::uint64_t hold(const Connection& over) {
    const std::size_t before = pair.server.received.size();
    send(over);
    EXPECT_EQ(pair.server.received.size(), before + 1);
    return pair.server.received.back().wr_id;
  }
  static bool open(const Connection& of) { return of.server->state() == QpState::kRts; }
  // Whether it has all that it may: one more Send ends the stream, for want of a receive.
  bool has_its_share(const Connection& of) {
    send(of);
    pair.run_for(1s);
    if (open(of)) return false;
    EXPECT_EQ(of.client->terminate_received()->code, 0x02);
    return true;
  }

  SimPair pair;
  Region& inbox = pair.server.region(kReceiveSize, Access::kLocalWrite);
  std::uint32_t next_number = 100;
  Connection slow = connect(pair.server.recv_cq), fast = connect(pair.server.recv_cq);
};

TEST_F(ReceiveShares, OfAFastClientAreNotUsedUpByASlowOne) {
  post_all();
  hold(slow);
  hold(slow);
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(post_shared(hold(fast)));
    ASSERT_TRUE(open(fast)) << "after " << i;
  }
  EXPECT_TRUE(has_its_share(slow));
  EXPECT_TRUE(open(fast));
}

TEST_F(ReceiveShares, GrowBackInWhateverOrderBuffersComeBack) {
  post_all();
  const std::array from = {&slow, &fast, &slow, &fast};
  std::array<std::uint64_t, 4> held{};
  for (std::size_t i = 0; i < held.size(); ++i) held.at(i) = hold(*from.at(i));
  for (int i = 0; i < 100; ++i) {
    for (const std::size_t at : {3U, 0U, 2U, 1U}) {
      ASSERT_TRUE(post_shared(held.at(at)));
      held.at(at) = hold(*from.at(at));
    }
    ASSERT_TRUE(open(slow) && open(fast)) << "after " << i;
  }
}

TEST_F(ReceiveShares, GrowBackInTheOrderOfPollingIfAllWrIdsAreEqual) {
  for (std::uint64_t i = 0; i < kReceives; ++i) ASSERT_TRUE(post_shared(0));
  for (int i = 0; i < 100; ++i) {
    for (const auto* from : {&slow, &fast, &fast, &slow}) hold(*from);
    for (int k = 0; k < 4; ++k) ASSERT_TRUE(post_shared(0));
    ASSERT_TRUE(open(slow) && open(fast)) << "after " << i;
  }
  hold(fast);
  for (const auto* from : {&slow, &slow, &fast}) hold(*from);
  ASSERT_TRUE(post_shared(0));
  hold(fast);
  EXPECT_TRUE(has_its_share(slow));
  EXPECT_TRUE(has_its_share(fast));
}

TEST_F(ReceiveShares, GrowBackInTheOrderOfPollingIfWrIdsCountUp) {
  std::uint64_t next = kReceives;
  post_all();
  for (int i = 0; i < 100; ++i) {
    for (const auto* from : {&slow, &fast, &fast, &slow}) hold(*from);
    for (int k = 0; k < 4; ++k) ASSERT_TRUE(post_shared(next++));
    ASSERT_TRUE(open(slow) && open(fast)) << "after " << i;
  }
}

TEST_F(ReceiveShares, DoNotGrowBackBeforeTheCompletionIsPolled) {
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(post_shared(i));
  pair.server.collects = false;
  send(slow);
  send(slow);
  ASSERT_TRUE(post_shared(0));  // the wr_id of one of them
  ASSERT_TRUE(post_shared(4));
  EXPECT_TRUE(has_its_share(slow));
}

TEST_F(ReceiveShares, AreKnownBehindSeveralCompletionQueuesAndAResize) {
  const auto other = another_cq(4);
  Connection third = connect(other);
  post_all();
  pair.server.collects = false;
  for (auto* from : {&third, &slow, &third, &slow, &fast, &fast}) send(*from);
  ASSERT_TRUE(other->resize(32));
  ASSERT_TRUE(pair.server.recv_cq->resize(32));
  pair.server.collect();
  pair.server.collects = true;
  EXPECT_EQ(ids(pair.server.received), (std::vector<std::uint64_t>{1, 3, 4, 5}));
  ASSERT_TRUE(post_shared(4));
  hold(fast);
  ASSERT_TRUE(post_shared(0));  // not polled: it is taken for the first that was
  hold(slow);
  std::array<Completion, 8> some;
  EXPECT_EQ(other->poll(some), 2U);
  ASSERT_TRUE(post_shared(2));
  send(third);
  EXPECT_EQ(other->poll(some), 1U);
  EXPECT_TRUE(has_its_share(third));
  EXPECT_TRUE(has_its_share(slow));
  EXPECT_TRUE(has_its_share(fast));
}

// ---- Queue pairs that go ----

TEST_F(ReceiveShares, OfOthersDoNotGrowByWhatADestroyedOneHad) {
  post_all();
  const std::array held = {hold(slow), hold(slow)};
  hold(fast);
  hold(fast);
  slow = {};
  for (const std::uint64_t wr_id : held) ASSERT_TRUE(post_shared(wr_id));
  EXPECT_TRUE(has_its_share(fast));
}

TEST_F(ReceiveShares, OfOthersGrowBackThoughWhatADestroyedOneHadIsNeverPostedAnew) {
  for (std::uint64_t i = 0; i < kReceives; ++i) ASSERT_TRUE(post_shared(0));
  hold(slow);
  hold(slow);
  slow = {};
  for (int i = 0; i < 100; ++i) {
    hold(fast);
    hold(fast);
    for (int k = 0; k < 2; ++k) ASSERT_TRUE(post_shared(0));
    ASSERT_TRUE(open(fast)) << "after " << i;
  }
}

TEST_F(ReceiveShares, OfADestroyedOneWhoseCompletionsAreDiscardedLeaveTheQueueWhole) {
  post_all();
  pair.server.collects = false;
  send(slow);
  send(slow);
  slow = {};
  pair.server.collects = true;
  hold(fast);
  EXPECT_TRUE(post_shared(0)) << "the places are free";
  EXPECT_TRUE(post_shared(1));
  hold(fast);
  EXPECT_TRUE(has_its_share(fast));
  EXPECT_EQ(pair.server.received.size(), 2U);
}

// Connections come and go, and each takes what it may with it.
TEST_F(ReceiveShares, AreThoseOfEachNewConnectionAnew) {
  post_all();
  for (std::uint64_t i = 0; i < 200; ++i) {
    Connection guest = connect(pair.server.recv_cq);
    const std::array held = {hold(guest), hold(guest)};
    if (i % 2 == 0) send(guest);  // one too many
    if (i % 3 == 0) guest = {};
    ASSERT_TRUE(post_shared(held[i % 2]));
    hold(fast);
    ASSERT_TRUE(post_shared(held[1 - i % 2]));
    ASSERT_TRUE(post_shared(pair.server.received.back().wr_id));
    ASSERT_TRUE(open(fast)) << "after " << i;
  }
}

TEST_F(ReceiveShares, OfOneThatIsDestroyedInsideAMessageLeaveTheQueueWhole) {
  Region& source = pair.client.region(kReceiveSize, Access::kLocalWrite);
  const Sge all = source.sge();
  post_all();
  hold(fast);
  const SendWr request = send_of(0, {&all, 1});
  ASSERT_TRUE(slow.client->post_send({&request, 1}));
  ASSERT_TRUE(pair.run_until([&] { return slow.server->counters().octets_received > 1000; }));
  ASSERT_EQ(pair.server.received.size(), 1U) << "the message is not whole";
  slow = {};
  EXPECT_TRUE(post_shared(1)) << "the place of the one that was begun is free";
  EXPECT_TRUE(post_shared(0));
  EXPECT_FALSE(post_shared(0));
  hold(fast);
  hold(fast);
  EXPECT_TRUE(has_its_share(fast));
}

TEST_F(ReceiveShares, OutliveACompletionQueueThatOverruns) {
  auto small = another_cq(1);
  Connection third = connect(small);
  post_all();
  send(third);
  send(third);
  pair.run_for(1s);
  EXPECT_FALSE(open(third));
  EXPECT_FALSE(small->resize(8)) << "it has overrun";
  std::array<Completion, 8> some;
  EXPECT_EQ(small->poll(some), 1U);
  third = {};
  small.reset();
  EXPECT_TRUE(post_shared(1)) << "its completion was dropped";
  EXPECT_TRUE(post_shared(0));
  EXPECT_FALSE(post_shared(0));
  hold(slow);
  hold(slow);
  EXPECT_TRUE(has_its_share(slow));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
