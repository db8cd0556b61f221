#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <array>

#include "verbs/progress_support.hpp"

// Event loops that say that they sleep at a queue, and do something else.
namespace iwarp::verbs::test {
namespace {

/// Two queue pairs of one client and one server, each pair on queues of its own.
struct OtherPair {
  explicit OtherPair(LoopbackPair& with, const QpOptions& options = {})
      : client_cq(must(with.client.device.create_cq(64))),
        server_cq(must(with.server.device.create_cq(64))),
        client_qp(must(with.client.pd.create_qp(client_cq, {}))),
        server_qp(must(with.server.pd.create_qp(server_cq, options))) {
    auto listener = must(with.server.device.listen(kAnyPort));
    std::thread acceptor([&] {
      if (auto request = listener.next(kPatience)) must(request->accept(server_qp));
    });
    must(client_qp.connect(listener.endpoint()));
    acceptor.join();
  }

  CompletionQueue client_cq, server_cq;
  QueuePair client_qp, server_qp;
};

class BusySleeper : public Progress {
 protected:
  // What only a thread that reads the server's socket can answer.
  bool peer_reads(std::uint64_t id) {
    const Sge to = source.sge(0, 8);
    EXPECT_TRUE(pair.client_qp.post_send(read_of(id, {&to, 1}, target)));
    const auto done = poll_for(pair.client.cq, 1);
    return done.size() == 1 && done[0].wr_id == id && done[0].status == Status::kSuccess;
  }
  // Makes the socket be left to the server's sleepers.
  void settle() {
    for (std::uint64_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
      ASSERT_TRUE(pair.client_qp.post_send(send_of(i, {})));
      ASSERT_EQ(poll_for(pair.client.cq, 1).size(), 1U);
      ASSERT_TRUE(pair.server.cq.wait(kPatience));
    }
  }
};

// The pauses let the engine come to rest at some places and not at others.
TEST_F(BusySleeper, SocketIsServedThoughItDoesNotWakeUp) {
  for (const auto pause : {0ms, 1ms, 50ms}) {
    settle();
    EXPECT_FALSE(pair.server.cq.begin_wait());
    std::this_thread::sleep_for(pause);
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(peer_reads(i)) << pause.count();
    pair.server.cq.end_wait();
  }
}

TEST_F(BusySleeper, SocketIsServedThoughItNeverSleptBefore) {
  EXPECT_FALSE(pair.server.cq.begin_wait());
  EXPECT_TRUE(peer_reads(1));
  pair.server.cq.end_wait();
}

// What it takes from the engine's hands wakes it as usual.
TEST_F(BusySleeper, IsToldOfWhatTheEngineHasCompletedMeanwhile) {
  settle();
  EXPECT_FALSE(pair.server.cq.begin_wait());
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{7, {}}));
  ASSERT_TRUE(pair.client_qp.post_send(send_of(7, {})));
  EXPECT_TRUE(eventually([&] { return pair.server_qp.counters().receives == 6; }));
  EXPECT_TRUE(sleep_until_readable(pair.server.cq.wait_descriptor(), kPatience));
  pair.server.cq.end_wait();
  EXPECT_EQ(poll_for(pair.server.cq, 1).size(), 1U);
}

// Ticks that never rest must find it as well.
TEST_F(BusySleeper, SocketIsServedWhileAnotherQueueIsPolled) {
  OtherPair other(pair);
  settle();
  EXPECT_FALSE(pair.server.cq.begin_wait());
  std::atomic<bool> over = false;
  std::thread poller([&] {
    Completion completion;
    for (std::uint64_t i = 0; !over.load(); ++i) {
      EXPECT_TRUE(other.client_qp.post_send(write_of(i, {}, target)));
      EXPECT_EQ(poll_for(other.client_cq, 1).size(), 1U);
      other.server_cq.poll({&completion, 1});
    }
  });
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(peer_reads(i));
  over.store(true);
  poller.join();
  pair.server.cq.end_wait();
}

// What the whole process has used.
std::chrono::microseconds processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto time_of = [](const timeval& one) {
    return std::chrono::seconds(one.tv_sec) + std::chrono::microseconds(one.tv_usec);
  };
  return time_of(usage.ru_utime) + time_of(usage.ru_stime);
}

// A message for which there is no receive is looked after at ticks, and takes no processor beside.
TEST_F(BusySleeper, NoThreadSpinsForAMessageThatAwaitsAReceiveWhileTheOthersSleep) {
  auto srq = must(pair.server.pd.create_srq({.max_wr = 4, .max_sge = 1}));
  QpOptions options;
  options.receive_wait = 1s;
  options.srq = &srq;
  OtherPair other(pair, options);
  settle();
  // It reads what comes, and sleeps on: its socket is left to it.
  std::thread sleeper([&] { EXPECT_TRUE(pair.server.cq.wait(kPatience)); });
  EXPECT_TRUE(peer_reads(1));
  EXPECT_TRUE(peer_reads(2));
  ASSERT_TRUE(other.client_qp.post_send(send_of(1, {})));
  std::this_thread::sleep_for(50ms);
  const auto before = processor_time();
  const auto since = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(400ms);
  const auto used = processor_time() - before;  // of what may have been longer: the machine is busy
  EXPECT_LT(used, (std::chrono::steady_clock::now() - since) / 2) << "a thread spins";
  ASSERT_TRUE(srq.post_receive(RecvWr{1, {}}));
  EXPECT_TRUE(eventually([&] { return other.server_qp.counters().receives == 1; }));
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{9, {}}));
  ASSERT_TRUE(pair.client_qp.post_send(send_of(9, {})));
  sleeper.join();
}

// One report names 32 of them.
TEST(ManySleepers, WaitThatEndsHasLookedAtEachReadySocket) {
  constexpr std::size_t kMany = 40;
  LoopbackHub hub(kMany);
  Buffer target(hub.server.pd, 64, Access::kLocalWrite | Access::kRemoteWrite);
  CompletionQueue& cq = hub.server.cq;
  ASSERT_FALSE(cq.wait(1ms));
  const int descriptor = cq.wait_descriptor();
  const auto ready = [&] {
    std::array<epoll_event, 64> events;
    return ::epoll_wait(descriptor, events.data(), static_cast<int>(events.size()), 0);
  };
  // The sockets are left to this thread for as long as it seems to be about to sleep.
  for (std::uint64_t round = 0; round < 20; ++round) {
    ASSERT_TRUE(hub.server_qps[kMany - 1].post_receive(RecvWr{round, {}}));
    EXPECT_FALSE(cq.begin_wait());
    for (std::size_t i = 0; i + 1 < kMany; ++i) {
      ASSERT_TRUE(hub.client_qps[i].post_send(write_of(i, {}, target)));
    }
    ASSERT_TRUE(hub.client_qps[kMany - 1].post_send(send_of(kMany, {})));
    ASSERT_EQ(poll_for(hub.client.cq, kMany).size(), kMany);
    const bool all_wait = ready() == static_cast<int>(kMany);
    cq.end_wait();
    const bool received = cq.wait(0ms).has_value();
    EXPECT_TRUE(received || !all_wait) << round;
    ASSERT_EQ(poll_for(cq, received ? 0 : 1).size(), received ? 0U : 1U);
  }
}

}  // namespace
}  // namespace iwarp::verbs::test
