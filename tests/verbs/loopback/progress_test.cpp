#include <gtest/gtest.h>

#include "verbs/progress_support.hpp"

// Which thread serves a connection, whatever its program waits for: a queue, another queue, memory,
// a descriptor, or nothing at all.
namespace iwarp::verbs::test {
namespace {

TEST_F(Progress, WriteArrivesWhereNobodyEverPolls) {
  write(std::byte{1});
  EXPECT_TRUE(target_shows(std::byte{1}));
}

TEST_F(Progress, WritesArriveWherePollingHasStopped) {
  for (unsigned round = 1; round <= 10; ++round) {
    poll_in_vain(pair.server.cq, 1000);
    write(std::byte(round));
    EXPECT_TRUE(target_shows(std::byte(round)));
  }
}

// The largest number there is means for ever.
TEST_F(Progress, ACompletionIsWaitedForHoweverLongThatIs) {
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{7, {}}));
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(pair.client_qp.post_send(send_of(1, {})));
  });
  const auto done = pair.server.cq.wait(std::chrono::milliseconds::max());
  other.join();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->wr_id, 7U);
}

TEST_F(Progress, WritesArriveWhileTheProgramPolls) {
  write(std::byte{9});
  EXPECT_TRUE(eventually([&] { return target.last() == std::byte{9}; },
                         [&] { poll_in_vain(pair.server.cq, 1); }));
}

TEST_F(Progress, ReadsAreServedWherePollingHasStopped) {
  const Sge to = source.sge();
  for (int round = 0; round < 10; ++round) {
    poll_in_vain(pair.server.cq, 1000);
    ASSERT_TRUE(pair.client_qp.post_send(read_of(1, {&to, 1}, target)));
    const auto done = poll_for(pair.client.cq, 1);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].status, Status::kSuccess);
  }
}

// A thread that polls another queue in vain does the engine's work, and the engine takes it back.
TEST_F(Progress, OneSidedTrafficArrivesWhoeverPollsSomethingElse) {
  auto other_cq = must(pair.server.device.create_cq(16));
  QueuePair other_server = must(pair.server.pd.create_qp(other_cq));
  Side far;
  QueuePair other_client = far.make_qp();
  auto listener = must(pair.server.device.listen(Endpoint(Address::loopback(), 0)));
  std::thread acceptor([&] {
    if (auto request = listener.next(10s)) must(request->accept(other_server));
  });
  must(other_client.connect(listener.endpoint()));
  acceptor.join();
  for (unsigned round = 1; round <= 5; ++round) {
    for (const bool polls : {true, false}) {
      const Sge from = source.sge();
      const std::uint64_t before = pair.server_qp.counters().peer_writes;
      for (int i = 0; i < 100; ++i) {
        if (polls) poll_in_vain(other_cq, 100);
        ASSERT_TRUE(pair.client_qp.post_send(write_of(1, {&from, 1}, target)));
        EXPECT_EQ(poll_for(pair.client.cq, 1).size(), 1U);
      }
      EXPECT_TRUE(eventually([&] { return pair.server_qp.counters().peer_writes == before + 100; },
                             [&] {
                               if (polls) poll_in_vain(other_cq, 1);
                             }));
    }
  }
}

TEST_F(Progress, PostsLeftForAPollerThatNeverComesBackAreSent) {
  for (unsigned round = 1; round <= 10; ++round) {
    poll_in_vain(pair.client.cq, 1000);
    std::fill(source.memory.begin(), source.memory.end(), std::byte(round));
    const Sge from = source.sge();
    SendWr quiet = write_of(1, {&from, 1}, target);
    quiet.flags = SendFlags::kNone;
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(pair.client_qp.post_send(quiet));
    ASSERT_TRUE(pair.client_qp.post_send(write_of(2, {}, target)));
    EXPECT_TRUE(eventually([&] { return pair.server_qp.counters().peer_writes == round * 6; }));
    EXPECT_TRUE(target_shows(std::byte(round)));
    EXPECT_EQ(poll_for(pair.client.cq, 1).size(), 1U);
  }
}

TEST_F(Progress, WaitSleepsUntilACompletionComes) {
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{1, {}}));
  EXPECT_FALSE(pair.server.cq.wait(20ms));
  std::thread sender([&] {
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(pair.client_qp.post_send(send_of(2, {})));
  });
  const auto received = pair.server.cq.wait(kPatience);
  sender.join();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::kSuccess);
}

TEST_F(Progress, WaitOfNoTimeFindsWhatHasArrived) {
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{1, {}}));
  ASSERT_TRUE(pair.client_qp.post_send(send_of(2, {})));
  std::optional<Completion> received;
  EXPECT_TRUE(eventually([&] { return (received = pair.server.cq.wait(0ms)).has_value(); }, [] {}));
}

TEST_F(Progress, SleeperIsServedWhileItSends) {
  // Far more than the sockets hold, and nobody but the sleeper to send it on.
  Buffer big(pair.client.pd, 8 << 20, Access::kNone);
  Buffer room(pair.server.pd, 8 << 20, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = big.sge();
  for (std::uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(pair.client_qp.post_send(write_of(i, {&from, 1}, room)));
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto done = pair.client.cq.wait(kPatience);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->wr_id, i);
  }
}

// ---- Events ----

TEST_F(Progress, ArmedQueueWakesASleeper) {
  CompletionQueue& cq = pair.server.cq;
  const int descriptor = cq.event_descriptor();
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
    cq.arm();
    poll_in_vain(cq, 1);  // as a program does, lest it sleep over what came before
    EXPECT_FALSE(cq.take_event());
    ASSERT_TRUE(pair.client_qp.post_send(send_of(i, {})));
    ASSERT_TRUE(sleep_until_readable(descriptor, kPatience));
    EXPECT_TRUE(cq.take_event());
    EXPECT_FALSE(cq.take_event()) << "one arming raises one event";
    EXPECT_FALSE(sleep_until_readable(descriptor, 0ms));
    Completion received;
    ASSERT_EQ(cq.poll({&received, 1}), 1U);
    EXPECT_EQ(received.wr_id, i);
  }
}

TEST_F(Progress, QueueArmedInTheMiddleOfPollingWakesASleeper) {
  CompletionQueue& cq = pair.server.cq;
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
    poll_in_vain(cq, 500);
    cq.arm();
    ASSERT_TRUE(pair.client_qp.post_send(send_of(i, {})));
    ASSERT_TRUE(sleep_until_readable(cq.event_descriptor(), kPatience));
    EXPECT_TRUE(cq.take_event());
    EXPECT_EQ(poll_for(cq, 1).size(), 1U);
  }
}

// Nothing is lost by leaving the sockets to the engine, and nothing is left to it for good.
TEST_F(Progress, QueueThatIsArmedAndOnlyPolledMakesProgress) {
  CompletionQueue& cq = pair.server.cq;
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
    if (i % 3 == 0) cq.arm(i % 2 == 0 ? Arm::kAny : Arm::kSolicited);
    if (i % 5 == 0) poll_in_vain(cq, static_cast<int>(i));
    ASSERT_TRUE(pair.client_qp.post_send(send_of(i, {})));
    EXPECT_EQ(poll_for(cq, 1).size(), 1U);
    EXPECT_EQ(poll_for(pair.client.cq, 1).size(), 1U);
  }
}

// Of which an event has been raised, and none is taken for a while.
TEST_F(Progress, QueueWhoseEventWaitsBringsInWhatComes) {
  CompletionQueue& cq = pair.server.cq;
  for (std::uint64_t round = 0; round < 20; ++round) {
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
    cq.arm();
    ASSERT_TRUE(pair.client_qp.post_send(send_of(0, {})));
    ASSERT_TRUE(sleep_until_readable(cq.event_descriptor(), kPatience));
    for (std::uint64_t i = 1; i < 4; ++i) ASSERT_TRUE(pair.client_qp.post_send(send_of(i, {})));
    EXPECT_EQ(poll_for(cq, 4).size(), 4U);
    EXPECT_EQ(poll_for(pair.client.cq, 4).size(), 4U);
    EXPECT_TRUE(cq.take_event());
    EXPECT_FALSE(cq.take_event());
  }
}

TEST_F(Progress, QueueArmedForSolicitedSleepsThroughOrdinaryMessages) {
  CompletionQueue& cq = pair.server.cq;
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
  cq.arm(Arm::kSolicited);
  ASSERT_TRUE(pair.client_qp.post_send(send_of(1, {})));
  ASSERT_TRUE(pair.client_qp.post_send(send_of(2, {})));
  EXPECT_TRUE(eventually([&] { return pair.server_qp.counters().receives == 2; }));
  EXPECT_FALSE(cq.take_event());
  SendWr solicited = send_of(3, {});
  solicited.flags = SendFlags::kSignaled | SendFlags::kSolicited;
  ASSERT_TRUE(pair.client_qp.post_send(solicited));
  ASSERT_TRUE(sleep_until_readable(cq.event_descriptor(), kPatience));
  EXPECT_TRUE(cq.take_event());
  const auto received = poll_for(cq, 3);
  ASSERT_EQ(received.size(), 3U);
  EXPECT_FALSE(has(received[0].flags, CompletionFlags::kSolicited));
  EXPECT_TRUE(has(received[2].flags, CompletionFlags::kSolicited));
}

TEST_F(Progress, QueueArmedForSolicitedWakesForAFailure) {
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{1, {}}));
  pair.server.cq.arm(Arm::kSolicited);
  pair.client_qp.abort();
  ASSERT_TRUE(sleep_until_readable(pair.server.cq.event_descriptor(), kPatience));
  EXPECT_TRUE(pair.server.cq.take_event());
}

TEST_F(Progress, ArmedSendQueueWakesASleeperForItsOwnRequest) {
  Buffer big(pair.client.pd, 8 << 20, Access::kNone);
  Buffer room(pair.server.pd, 8 << 20, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = big.sge();
  pair.client.cq.arm();
  ASSERT_TRUE(pair.client_qp.post_send(write_of(1, {&from, 1}, room)));
  ASSERT_TRUE(sleep_until_readable(pair.client.cq.event_descriptor(), kPatience));
  EXPECT_EQ(poll_for(pair.client.cq, 1).size(), 1U);
}

// ---- Two queues ----

class TwoQueues : public testing::Test {
 protected:
  TwoQueues() {
    auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
    std::thread acceptor([&] {
      auto request = listener.next(kPatience);
      if (request) static_cast<void>(request->accept(server_qp));
    });
    const auto connected = client_qp.connect(listener.endpoint());
    acceptor.join();
    EXPECT_TRUE(connected);
  }

  Side client, server;
  CompletionQueue recv_cq = must(client.device.create_cq(64));
  QueuePair client_qp = must(client.pd.create_qp(client.cq, recv_cq));
  QueuePair server_qp = server.make_qp();
};

TEST_F(TwoQueues, PollingTheSendQueueBringsInReceivesToTheOther) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(client_qp.post_receive(RecvWr{i, {}}));
    recv_cq.arm();
    ASSERT_TRUE(server_qp.post_send(send_of(i, {})));
    EXPECT_TRUE(eventually([&] { return recv_cq.take_event(); },
                           [&] {
                             Completion none;
                             EXPECT_EQ(client.cq.poll({&none, 1}), 0U);
                           }));
    Completion received;
    ASSERT_EQ(recv_cq.poll({&received, 1}), 1U);
    EXPECT_EQ(received.opcode, CompletionOpcode::kReceive);
  }
}

TEST_F(TwoQueues, PollingTheReceiveQueueSendsWhatWasPosted) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    Completion none;
    for (int n = 0; n < 200; ++n) EXPECT_EQ(recv_cq.poll({&none, 1}), 0U);
    for (std::uint64_t k = 0; k < 3; ++k) {
      ASSERT_TRUE(client_qp.post_send(SendWr{.wr_id = k, .opcode = Opcode::kWrite}));
    }
    EXPECT_TRUE(eventually([&] { return server_qp.counters().peer_writes == 3 * (i + 1); },
                           [&] {
                             recv_cq.poll({&none, 1});
                           }));
    EXPECT_EQ(poll_for(client.cq, 3).size(), 3U);
  }
}

TEST_F(TwoQueues, EachThreadSleepsOnAQueueOfItsOwn) {
  constexpr std::uint64_t kMessages = 50;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(client_qp.post_receive(RecvWr{i, {}}));
  }
  std::thread receiver([&] {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      const auto received = recv_cq.wait(kPatience);
      ASSERT_TRUE(received);
      EXPECT_EQ(received->wr_id, i);
    }
  });
  std::thread peer([&] {
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      EXPECT_TRUE(server_qp.post_send(send_of(i, {})));
      EXPECT_TRUE(server.cq.wait(kPatience));
    }
  });
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    EXPECT_TRUE(client_qp.post_send(SendWr{.wr_id = i, .opcode = Opcode::kWrite}));
    const auto sent = client.cq.wait(kPatience);
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->wr_id, i);
  }
  receiver.join();
  peer.join();
}

}  // namespace
}  // namespace iwarp::verbs::test
