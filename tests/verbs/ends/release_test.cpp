#include "verbs/sim_harness.hpp"

// A device that does not copy reads the program's memory for a while after it has taken it.
namespace iwarp::verbs::simtest {
namespace {

class SimRelease : public testing::Test {
 protected:
  SimRelease()
      : pair(options()),
        source(pair.client.region(64, Access::kRemoteRead)),
        sink(pair.server.region(64, Access::kLocalWrite | Access::kRemoteWrite)),
        from(source.sge()),
        to(sink.sge()) {
    pair.run_for(100ms);
  }

  static PairOptions options() {
    PairOptions made;
    made.net.memory = tcp_offload::SimMemory::kReferenced;
    made.net.release_lag = 10ms;
    return made;
  }
  static bool idle(SimEnd& end, const Region& region) {
    return end.host->registry->table().idle(region.key());
  }

  SimPair pair;
  Region& source;  // the client's
  Region& sink;    // the server's
  const Sge from, to;
};

TEST_F(SimRelease, RequestsThatHaveLeftAreDoneThoughThePeerEndsBeforeTheirRelease) {
  post(pair.server, RecvWr{1, {&to, 1}});
  post(pair.client, send_of(2, {&from, 1}));
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }, 1s));
  pair.server.qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kSuccess});
}

TEST_F(SimRelease, MemoryIsNoLongerInUseWhenTheConnectionIsOver) {
  post(pair.server, read_of(1, {&to, 1}, source.key(), source.to(0)));
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.sent.empty(); }, 1s));
  EXPECT_FALSE(idle(pair.client, source));
  pair.server.qp->disconnect();
  ASSERT_TRUE(pair.run_until([&] { return pair.client.closed(); }, 1s));
  EXPECT_TRUE(idle(pair.client, source));
}

TEST_F(SimRelease, NothingSucceedsBehindARequestThatIsFlushed) {
  Region& readable = pair.client.region(64, Access::kRemoteRead);
  const Sge wrong{sink.memory.data(), 8, Stag{sink.key().value() ^ 1U}};
  Region& target = pair.client.region(64, Access::kLocalWrite | Access::kRemoteWrite);
  post(pair.server, write_of(1, {&to, 1}, target.key(), target.to(0)));
  post(pair.server, read_of(2, {&to, 1}, readable.key(), readable.to(0)));
  SendWr fenced = send_of(3, {&wrong, 1});
  fenced.flags = SendFlags::kSignaled | SendFlags::kFence;
  post(pair.server, fenced);
  ASSERT_TRUE(pair.run_until_closed(1s));
  pair.turn();
  EXPECT_EQ(statuses(pair.server.sent),
            (std::vector{Status::kFlushed, Status::kFlushed, Status::kLocalProtectionError}));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
