#include "compat/blocking.hpp"

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <mutex>

// Threads that sleep in ibv_get_cq_event(): alone, where they read the sockets themselves, in
// company, and threads that stop coming.
namespace iwarp::compat_test {
namespace {

using namespace std::chrono_literals;

TEST(Blocking, MessagesGoToAndFroAtChannelsOfOneQueueEach) {
  Pair pair;
  // Sends complete at a channel of their own, at which no thread sleeps.
  play(pair, 500);
}

TEST(Blocking, MessagesGoToAndFroAtAChannelOfTwoQueues) {
  Pair pair(&use_one_channel);
  play(pair, 500);
}

TEST(Blocking, SleeperIsNotWokenByWhatCompletesNothing) {
  Pair pair;
  ibv_comp_channel* const channel = pair.server.id->recv_cq_channel;
  must(ibv_req_notify_cq(pair.server.id->recv_cq, 0), "ibv_req_notify_cq");
  std::atomic<bool> woken{false};
  std::vector<ibv_wc> done;
  SleepingThread sleeper([&] {
    take_event(channel, done);
    woken = true;
  });
  End& client = pair.client;
  client.memory.fill('w');
  // So many that in the end the engine reads.
  for (int i = 0; i < 200; ++i) {
    one_sided(pair, IBV_WR_RDMA_WRITE);
    if (i % 40 == 0) std::this_thread::sleep_for(12ms);  // the engine has gone to sleep, too
  }
  const auto until = std::chrono::steady_clock::now() + 10s;
  const std::atomic_ref last(pair.server.memory[127]);
  while (last != 'w' && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(last, 'w') << "placed while the only thread of the program sleeps";
  EXPECT_FALSE(woken);
  ASSERT_EQ(client.post_send(7, client.sge()), 0);
  sleeper.join();
  EXPECT_EQ(count_receives(done), 1U) << "one waking up, for the message";
}

TEST(Blocking, EachOfSeveralThreadsAtAChannelGetsEvents) {
  Pair pair;
  constexpr int kMessages = 300;
  ibv_cq* const queue = pair.server.id->recv_cq;
  ibv_comp_channel* const channel = pair.server.id->recv_cq_channel;
  must(ibv_req_notify_cq(queue, 0), "ibv_req_notify_cq");
  std::mutex mutex;
  std::atomic<int> left{kMessages};
  std::atomic<int> at_work{3};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      std::vector<ibv_wc> done;
      while (left > 0) {
        done.clear();
        take_event(channel, done);
        const std::lock_guard lock(mutex);
        for (std::size_t got = count_receives(done); got != 0; --got) {
          must(pair.server.post_receive(1), "ibv_post_recv");
          --left;
        }
      }
      --at_work;
    });
  }
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_EQ(pair.client.post_send(7, pair.client.sge()), 0);
    ASSERT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
    while (left > kMessages - i - 1) std::this_thread::yield();
  }
  // Those that still sleep are woken, each by a message.
  while (at_work != 0) {
    const int before = at_work;
    ASSERT_EQ(pair.client.post_send(7, pair.client.sge()), 0);
    ASSERT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
    while (at_work == before) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

// A channel that many queues share, some of them made while a thread sleeps there.
TEST(Blocking, QueuesThatJoinWhileAThreadSleepsWakeIt) {
  Pair first;
  ibv_context* const context = first.server.id->verbs;
  ibv_comp_channel* const channel =
      must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
  ibv_cq* const alone = must(ibv_create_cq(context, 8, nullptr, channel, 0), "ibv_create_cq");
  must(ibv_req_notify_cq(alone, 0), "ibv_req_notify_cq");
  std::atomic<ibv_cq*> from{nullptr};
  SleepingThread sleeper([&] {
    ibv_cq* queue = nullptr;
    void* its_context = nullptr;
    must(ibv_get_cq_event(channel, &queue, &its_context), "ibv_get_cq_event");
    ibv_ack_cq_events(queue, 1);
    from = queue;
  });
  const Prepare joins = [&](End& end, ibv_qp_init_attr& attributes) {
    if (end.id->verbs != context) return;
    attributes.recv_cq = must(ibv_create_cq(context, 8, nullptr, channel, 0), "ibv_create_cq");
    attributes.send_cq = must(ibv_create_cq(context, 8, nullptr, nullptr, 0), "ibv_create_cq");
    must(ibv_req_notify_cq(attributes.recv_cq, 0), "ibv_req_notify_cq");
  };
  Pair second(joins);
  ASSERT_EQ(second.client.post_send(7, second.client.sge()), 0);
  sleeper.join();
  EXPECT_EQ(from, second.server.id->qp->recv_cq);
}

// It has come once, and now does something else.
TEST(Blocking, PeerIsServedWhileTheThreadDoesNotComeBack) {
  Pair pair;
  Player server(pair.server);
  server.arm();
  SleepingThread once([&] { server.await_message(); });
  ASSERT_EQ(pair.client.post_send(7, pair.client.sge()), 0);
  EXPECT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
  once.join();
  for (int i = 0; i < 20; ++i) one_sided(pair, IBV_WR_RDMA_READ);
}

// What it posts leaves although it neither sleeps nor polls.
TEST(Blocking, PostsLeaveWhileTheThreadDoesNotComeBack) {
  Pair pair(&use_one_channel);
  play(pair, 10);
  constexpr std::uint64_t kMessages = 4;
  for (std::uint64_t i = 1; i < kMessages; ++i) must(pair.client.post_receive(1), "ibv_post_recv");
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(pair.server.post_send(i, pair.server.sge()), 0);
  }
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    EXPECT_EQ(completion_of(pair.client.id->qp->recv_cq).opcode, IBV_WC_RECV);
  }
}

// The thread reads for the queue of one connection, whose peer is silent; those of another queue
// have several, which the engine serves.
TEST(Blocking, ThreadSleepsOnWhileTheEngineServesTheOtherQueue) {
  const std::thread::id here = std::this_thread::get_id();
  ibv_comp_channel* channel = nullptr;
  ibv_cq* of_one = nullptr;
  ibv_cq* of_two = nullptr;
  ibv_cq* sends = nullptr;
  const auto receives_at = [&](ibv_cq*& queue) -> Prepare {
    return [&](End& end, ibv_qp_init_attr& attributes) {
      if (std::this_thread::get_id() == here) return;  // the client's
      ibv_context* const context = end.id->verbs;
      if (channel == nullptr) channel = must(ibv_create_comp_channel(context), "a channel");
      for (ibv_cq** const each : {&of_one, &of_two, &sends}) {
        ibv_comp_channel* const its = each == &sends ? nullptr : channel;
        if (*each == nullptr) *each = must(ibv_create_cq(context, 64, nullptr, its, 0), "a queue");
      }
      attributes.send_cq = sends;
      attributes.recv_cq = queue;
    };
  };
  Pair silent(receives_at(of_one)), first(receives_at(of_two));
  must(ibv_req_notify_cq(of_one, 0), "ibv_req_notify_cq");
  must(ibv_req_notify_cq(of_two, 0), "ibv_req_notify_cq");
  {
    // As long as it has one connection, too, the thread reads for both queues.
    SleepingThread sleeper([&] { take_and_acknowledge(channel); });
    ASSERT_EQ(first.client.post_send(7, first.client.sge()), 0);
  }
  EXPECT_EQ(completion_of(of_two).opcode, IBV_WC_RECV);
  EXPECT_EQ(completion_of(first.client.id->send_cq).status, IBV_WC_SUCCESS);
  must(ibv_req_notify_cq(of_two, 0), "ibv_req_notify_cq");
  Pair second(receives_at(of_two));
  SleepingThread sleeper([&] { take_and_acknowledge(channel); });
  ASSERT_TRUE(sleeper.rests());
  const std::string asleep = sleeper.switches();
  for (int i = 0; i < 200; ++i) {
    one_sided(first, IBV_WR_RDMA_WRITE);
    one_sided(second, IBV_WR_RDMA_WRITE);
  }
  EXPECT_EQ(sleeper.switches(), asleep);
  ASSERT_EQ(second.client.post_send(7, second.client.sge()), 0);
  sleeper.join();
  EXPECT_EQ(completion_of(of_two).opcode, IBV_WC_RECV);
}

// Each thread wakes for what completes at its queue, whichever reads.
TEST(Blocking, ThreadsMaySleepAtEachQueueOfAConnection) {
  Pair pair;
  constexpr std::uint64_t kMessages = 200;
  constexpr std::uint64_t kUnreaped = 8;  // fewer than the send queue holds
  std::atomic<std::uint64_t> reaped{0};
  must(ibv_req_notify_cq(pair.server.id->recv_cq, 0), "ibv_req_notify_cq");
  must(ibv_req_notify_cq(pair.server.id->send_cq, 0), "ibv_req_notify_cq");
  std::thread answers([&] {
    Player server(pair.server);
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      server.await_message();
      while (i - reaped >= kUnreaped) std::this_thread::yield();
      must(pair.server.post_send(i, pair.server.sge()), "ibv_post_send");
    }
  });
  std::thread reaps([&] {
    std::vector<ibv_wc> done;
    while (done.size() < kMessages) {
      take_event(pair.server.id->send_cq_channel, done);
      reaped = done.size();
    }
  });
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    must(pair.client.post_receive(1), "ibv_post_recv");
    ASSERT_EQ(pair.client.post_send(i, pair.client.sge()), 0);
    ASSERT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
    ASSERT_EQ(completion_of(pair.client.id->recv_cq).status, IBV_WC_SUCCESS);
  }
  answers.join();
  reaps.join();
}

// The program turns to another way of waiting.
TEST(Blocking, ThreadMayPollTheDescriptorAfterwards) {
  Pair pair;
  Player server(pair.server);
  ibv_comp_channel* const channel = pair.server.id->recv_cq_channel;
  server.arm();
  const auto message = [&] {
    ASSERT_EQ(pair.client.post_send(7, pair.client.sge()), 0);
    ASSERT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
  };
  for (int i = 0; i < 20; ++i) {
    std::thread blocks([&] { server.await_message(); });
    std::this_thread::sleep_for(2ms);
    message();
    blocks.join();
  }
  ASSERT_EQ(::fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
  for (int i = 0; i < 50; ++i) {
    message();
    pollfd ready{channel->fd, POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 10'000), 1);
    server.await_message();
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    EXPECT_EQ(ibv_get_cq_event(channel, &queue, &context), -1);
    EXPECT_EQ(errno, EAGAIN);
  }
}

}  // namespace
}  // namespace iwarp::compat_test
