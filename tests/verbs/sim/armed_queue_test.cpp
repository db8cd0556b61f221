#include "verbs/sim_harness.hpp"

// What polls do between arming a completion queue and sleeping on its event.
namespace iwarp::verbs::simtest {
namespace {

// There is no engine here: what a poll leaves to it stays where it is.
class ArmedQueue : public testing::Test {
 protected:
  ArmedQueue() {
    pair.server.collects = false;
    post(pair.server, RecvWr{1, {}});
    post(pair.server, RecvWr{2, {}});
  }
  // Comes to the server's socket.
  void send() {
    post(pair.client, send_of(1, {}));
    pair.network.run_until([&] { pair.client.turn(); }, [] { return false; }, 1s);
  }
  std::size_t poll() {
    std::array<Completion, 4> done;
    return pair.server.recv_cq->poll(done);
  }
  // How many find nothing.
  int polls_in_vain() {
    for (int polls = 0; polls < 100; ++polls) {
      if (poll() != 0) return polls;
    }
    return 100;
  }

  SimPair pair;
};

TEST_F(ArmedQueue, LeavesItsSocketsToTheEngineForAFewPolls) {
  send();
  pair.server.recv_cq->arm(provider::Arm::kAny);
  EXPECT_EQ(polls_in_vain(), 8);
}

TEST_F(ArmedQueue, IsPolledAsAnyWhenItsEventHasBeenTaken) {
  send();
  pair.server.recv_cq->arm(provider::Arm::kAny);
  pair.server.turn();
  send();
  EXPECT_EQ(poll(), 1U);
  EXPECT_EQ(poll(), 0U) << "the event waits, and the engine has the socket";
  EXPECT_TRUE(pair.server.recv_cq->take_event());
  EXPECT_EQ(polls_in_vain(), 0);
}

TEST_F(ArmedQueue, ThatIsArmedOverAndOverIsDriven) {
  send();
  for (int polls = 0; poll() == 0; ++polls) {
    ASSERT_LT(polls, 10);
    pair.server.recv_cq->arm(provider::Arm::kAny);
  }
}

/// What polls show to the engine.
class PolledQueue : public ArmedQueue {
 protected:
  // By one poll for so many completions.
  std::uint32_t signs_of_poll(std::size_t count) {
    soft::SoftCq& queue = *pair.server.recv_cq;
    const std::uint32_t before = queue.signs().count();
    std::vector<Completion> done(count);
    queue.poll(done);
    return queue.signs().count() - before;
  }
  // Completions that wait for the program.
  void receive(int count) {
    for (int i = 0; i < count; ++i) send();
    pair.server.turn();
  }
};

TEST_F(PolledQueue, FullPollsOfSeveralAreSignsThatTheProgramGoesOnPolling) {
  receive(2);
  EXPECT_EQ(signs_of_poll(2), 1U);
}

TEST_F(PolledQueue, PollOfOneThatIsThereIsNone) {
  receive(2);
  EXPECT_EQ(signs_of_poll(1), 0U);
  EXPECT_EQ(signs_of_poll(1), 0U);
  EXPECT_EQ(signs_of_poll(1), 1U) << "in vain";
}

// What the engine has left to the program is read, though there are always completions enough.
TEST_F(PolledQueue, FullPollsDriveNowAndThen) {
  constexpr int kPolls = 16;
  for (std::uint64_t i = 2; i < 2 * kPolls + 1; ++i) post(pair.server, RecvWr{i, {}});
  receive(2 * kPolls);
  send();
  for (int polls = 0; polls < kPolls; ++polls) EXPECT_EQ(signs_of_poll(2), 1U);
  pair.server.recv_cq->arm(provider::Arm::kAny);  // from here on polls look at no socket
  EXPECT_EQ(poll(), 1U);
}

TEST_F(PolledQueue, FullPollsOfAnArmedQueueAreLeftToTheEngineAsOthersAre) {
  receive(2);
  pair.server.recv_cq->arm(provider::Arm::kAny);
  EXPECT_EQ(signs_of_poll(2), 0U);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
