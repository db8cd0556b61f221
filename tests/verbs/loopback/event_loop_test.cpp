#include <gtest/gtest.h>
#include <sys/resource.h>

#include "verbs/progress_support.hpp"

// Event loops that sleep themselves: the parts of CompletionQueue::wait().
namespace iwarp::verbs::test {
namespace {

class EventLoop : public Progress {
 protected:
  // Sleeps as a loop does, until a poll finds something.
  std::optional<Completion> sleep_until_a_poll_finds(CompletionQueue& cq) {
    const int descriptor = cq.wait_descriptor();
    Completion found;
    std::size_t count = 0;
    eventually(
        [&] {
          return (count = cq.poll({&found, 1})) != 0;
        },
        [&] {
          if (!cq.begin_wait()) sleep_until_readable(descriptor, kPatience);
          cq.end_wait();
        });
    if (count == 0) return std::nullopt;
    return found;
  }
  // Begins to wait, when nothing is there to wake up for: another thread that saw a sleeper may
  // wake it when he is up already.
  void fall_asleep(CompletionQueue& cq) {
    EXPECT_TRUE(eventually([&] {
      EXPECT_FALSE(cq.begin_wait());
      if (!sleep_until_readable(cq.wait_descriptor(), 20ms)) return true;
      cq.end_wait();
      poll_in_vain(cq, 1);
      return false;
    }));
  }
  // Has the sockets left to the thread that waits at the server's queue.
  void warm_up() {
    for (std::uint64_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
      ASSERT_TRUE(pair.client_qp.post_send(send_of(i, {})));
      ASSERT_EQ(poll_for(pair.client.cq, 1).size(), 1U);
      const auto received = sleep_until_a_poll_finds(pair.server.cq);
      ASSERT_TRUE(received);
      EXPECT_EQ(received->wr_id, i);
    }
  }
};

TEST_F(EventLoop, IsWokenByWhatComes) { warm_up(); }

TEST_F(EventLoop, IsWokenByWhatAnotherThreadCompletes) {
  warm_up();
  CompletionQueue& cq = pair.server.cq;
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{7, {}}));
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    pair.server_qp.abort();
  });
  const auto flushed = sleep_until_a_poll_finds(cq);
  other.join();
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->status, Status::kFlushed);
  fall_asleep(cq);  // once the connection has gone
  cq.end_wait();
}

TEST_F(EventLoop, NeedNotSleepWhereSomethingIsThere) {
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{1, {}}));
  ASSERT_TRUE(pair.client_qp.post_send(send_of(1, {})));
  EXPECT_TRUE(eventually([&] { return pair.server_qp.counters().receives == 1; }));
  EXPECT_TRUE(pair.server.cq.begin_wait());
  pair.server.cq.end_wait();
}

// Nobody would come back for what is left to a sleeper.
TEST_F(EventLoop, WhatOthersPostMeanwhileIsSentAtOnce) {
  warm_up();
  const int descriptor = pair.server.cq.wait_descriptor();
  Buffer back(pair.client.pd, 64, Access::kLocalWrite | Access::kRemoteWrite);
  fall_asleep(pair.server.cq);
  SendWr quiet = write_of(1, {}, back);
  quiet.flags = SendFlags::kNone;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pair.server_qp.post_send(quiet));
  EXPECT_TRUE(eventually([&] { return pair.client_qp.counters().peer_writes == 5; }));
  EXPECT_FALSE(sleep_until_readable(descriptor, 0ms)) << "the sleeper had to be woken for it";
  pair.server.cq.end_wait();
}

// The socket stays readable, as the message is not taken from it or what is behind it is not.
TEST_F(EventLoop, IsNotKeptAwakeByAMessageThatAwaitsAReceive) {
  QpOptions options;
  options.receive_wait = 1s;
  LoopbackPair waiting({}, {}, options);
  CompletionQueue& cq = waiting.server.cq;
  ASSERT_FALSE(cq.wait(1ms));  // its sockets are watched from now on
  Buffer big(waiting.client.pd, 100'000, Access::kNone);
  Buffer room(waiting.server.pd, 100'000, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = big.sge();
  ASSERT_TRUE(waiting.client_qp.post_send(send_of(1, {})));
  ASSERT_TRUE(waiting.client_qp.post_send(write_of(2, {&from, 1}, room)));
  ASSERT_TRUE(waiting.client_qp.post_send(write_of(3, {&from, 1}, room)));
  std::this_thread::sleep_for(50ms);
  poll_in_vain(cq, 10);  // the message has come, and waits
  fall_asleep(cq);
  cq.end_wait();
  ASSERT_TRUE(waiting.server_qp.post_receive(RecvWr{9, {}}));
  const auto received = sleep_until_a_poll_finds(cq);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::kSuccess);
  EXPECT_TRUE(eventually([&] { return waiting.server_qp.counters().peer_writes == 2; },
                         [&] { poll_in_vain(cq, 1); }));
}

TEST_F(EventLoop, NobodyWakesUpWhileAllSleep) {
  warm_up();
  const auto switches = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
  };
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{9, {}}));
  fall_asleep(pair.server.cq);
  EXPECT_FALSE(sleep_until_readable(pair.server.cq.wait_descriptor(), 100ms));
  const auto before = switches();
  EXPECT_FALSE(sleep_until_readable(pair.server.cq.wait_descriptor(), 500ms));
  EXPECT_LT(switches() - before, 100) << "a tick each millisecond would be 500";
  pair.server.cq.end_wait();
  ASSERT_TRUE(pair.client_qp.post_send(send_of(9, {})));
  EXPECT_TRUE(sleep_until_a_poll_finds(pair.server.cq));
  // And the engine looks after what nobody polls for, as before.
  write(std::byte{5});
  EXPECT_TRUE(target_shows(std::byte{5}));
}

}  // namespace
}  // namespace iwarp::verbs::test
