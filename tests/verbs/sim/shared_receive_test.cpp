#include "verbs/sim_harness.hpp"

// Shared receive queues: order, limits, shares, and what becomes of what a dying queue pair held.
namespace iwarp::verbs::simtest {
namespace {

class SharedReceive : public testing::Test {
 protected:
  explicit SharedReceive(std::uint32_t share = 0) : pair(options(share)) {}
  static PairOptions options(std::uint32_t share) {
    PairOptions made;
    made.server.srq = provider::SrqOptions{.max_wr = 8, .max_sge = 2, .share = share};
    return made;
  }
  Result<void, PostError> post_shared(std::uint64_t id) {
    const Sge to = inbox.sge(8 * id, 8);
    const RecvWr request{.wr_id = id, .sges = {&to, 1}};
    return pair.server.srq->post_receive({&request, 1});
  }
  void post_all() {
    for (std::uint64_t id = 0; id < 8; ++id) ASSERT_TRUE(post_shared(id));
  }
  void send(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) post(pair.client, send_of(i, {}));
    pair.run_for(1ms);
  }

  SimPair pair;
  Region& inbox = pair.server.region(64, Access::kLocalWrite);
};

TEST_F(SharedReceive, IsTakenInTheOrderOfPosting) {
  post_all();
  send(3);
  EXPECT_EQ(ids(pair.server.received), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_F(SharedReceive, HoldsWhatItsOptionsSay) {
  post_all();
  EXPECT_EQ(post_shared(0).error().code, std::errc::not_enough_memory);
  send(1);
  EXPECT_TRUE(post_shared(0)) << "a completed receive has left its place";
  const Sge three[3] = {};
  const RecvWr wide{.wr_id = 1, .sges = three};
  EXPECT_EQ(pair.server.srq->post_receive({&wide, 1}).error().code, std::errc::invalid_argument);
}

TEST_F(SharedReceive, ReplacesPostingToTheQueuePair) {
  const RecvWr request{.wr_id = 1};
  EXPECT_EQ(pair.server.qp->post_receive({&request, 1}).error().code, std::errc::invalid_argument);
}

TEST_F(SharedReceive, ThatIsEmptyEndsWhoeverFindsItSo) {
  ASSERT_TRUE(post_shared(0));
  send(2);
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x02);
}

TEST_F(SharedReceive, ReportsItsLimitOnce) {
  post_all();
  ASSERT_TRUE(pair.server.srq->arm_limit(6));
  send(2);
  EXPECT_TRUE(pair.server.host->reports.empty());
  send(2);
  ASSERT_EQ(pair.server.host->reports.size(), 1U);
  EXPECT_EQ(pair.server.host->reports[0].kind, AsyncEvent::Kind::kSrqLimitReached);
  EXPECT_EQ(pair.server.host->reports[0].number, pair.server.srq->number());
}

TEST_F(SharedReceive, TellsOnceThatATakerHasEnded) {
  post_all();
  send(1);
  pair.server.qp->abort();
  pair.run_for(1ms);
  ASSERT_EQ(pair.server.host->reports.size(), 1U);
  EXPECT_EQ(pair.server.host->reports[0].kind, AsyncEvent::Kind::kQpLastWqeReached);
  EXPECT_EQ(pair.server.host->reports[0].number, pair.server.qp->number());
  EXPECT_TRUE(pair.client.host->reports.empty()) << "it has receives of its own";
}

TEST_F(SharedReceive, ReportsALimitThatIsReachedAlready) {
  ASSERT_TRUE(pair.server.srq->arm_limit(1));
  EXPECT_EQ(pair.server.host->reports.size(), 1U);
  EXPECT_EQ(pair.server.srq->arm_limit(9).error().code, std::errc::invalid_argument);
}

TEST_F(SharedReceive, GivesBackWhatADyingQueuePairWasFilling) {
  post_all();
  Region& big = pair.client.region(1000, Access::kLocalWrite);
  const Sge all = big.sge();
  post(pair.client, send_of(1, {&all, 1}));  // too long for its receive
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kLocalLengthError});
  EXPECT_TRUE(post_shared(0)) << "its place is free";
  EXPECT_FALSE(post_shared(0)) << "and only that";
}

class Shares : public SharedReceive {
 protected:
  Shares() : SharedReceive(2) {}
};

TEST_F(Shares, KeepAPeerFromTakingEverything) {  // RFC 5042 §6.4.3.1
  post_all();
  send(3);
  ASSERT_TRUE(pair.run_until_closed());
  EXPECT_EQ(pair.server.received.size(), 2U);
  EXPECT_EQ(pair.client.qp->terminate_received()->code, 0x02);
}

TEST_F(Shares, GrowBackAsReceivesArePostedAnew) {
  post_all();
  for (std::uint64_t i = 0; i < 20; ++i) {
    send(1);
    ASSERT_EQ(pair.server.received.size(), i + 1);
    ASSERT_TRUE(post_shared(i % 8));
  }
  EXPECT_FALSE(pair.server.closed());
}

}  // namespace
}  // namespace iwarp::verbs::simtest
