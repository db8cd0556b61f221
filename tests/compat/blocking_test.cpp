#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "compat/pair.hpp"
#include "support/forked_child.hpp"
#include "support/interrupted_call.hpp"
#include "support/sanitizers.hpp"

// Threads that sleep in ibv_get_cq_event(): alone, where they read the sockets themselves, in
// company, and threads that stop coming.
namespace iwarp::compat_test {
namespace {

using namespace std::chrono_literals;

// A thread that has come to its sleep.
class SleepingThread {
 public:
  explicit SleepingThread(const std::function<void()>& body)
      : thread_([this, body] {
          number_ = ::gettid();
          body();
          over_ = true;
        }) {
    while (!over_ && (number_ == 0 || !test::sleeps(number_))) std::this_thread::yield();
  }
  SleepingThread(const SleepingThread&) = delete;
  SleepingThread& operator=(const SleepingThread&) = delete;
  ~SleepingThread() {
    if (thread_.joinable()) thread_.join();
  }
  void join() { thread_.join(); }
  // How often it has been woken, and gone to sleep again, as a text.
  [[nodiscard]] std::string switches() const {
    return test::status_of_thread(std::to_string(number_)).switches;
  }

 private:
  std::atomic<pid_t> number_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// Takes an event of the channel, arms its queue, and takes what has completed there.
std::size_t take_event(ibv_comp_channel* channel, std::vector<ibv_wc>& into) {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  must(ibv_get_cq_event(channel, &queue, &context), "ibv_get_cq_event");
  ibv_ack_cq_events(queue, 1);
  must(ibv_req_notify_cq(queue, 0), "ibv_req_notify_cq");
  const std::size_t before = into.size();
  for (;;) {
    ibv_wc done{};
    const int got = ibv_poll_cq(queue, 1, &done);
    if (got < 0) throw std::runtime_error("ibv_poll_cq fails");
    if (got == 0) return into.size() - before;
    into.push_back(done);
  }
}

std::size_t count_receives(const std::vector<ibv_wc>& done) {
  std::size_t count = 0;
  for (const ibv_wc& one : done) {
    if (one.status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(one.status));
    count += one.opcode == IBV_WC_RECV ? 1 : 0;
  }
  return count;
}

void* take_and_acknowledge(void* channel) {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(static_cast<ibv_comp_channel*>(channel), &queue, &context) == 0) {
    ibv_ack_cq_events(queue, 1);
  }
  return nullptr;
}

// The client writes to the second quarter of the server's memory, or reads from there.
void post_one_sided(Pair& pair, ibv_wr_opcode opcode) {
  ibv_sge here = pair.client.sge(64);
  ibv_send_wr request{};
  request.sg_list = &here;
  request.num_sge = 1;
  request.opcode = opcode;
  request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(pair.server.memory.data()) + 64;
  request.wr.rdma.rkey = pair.server.mr->rkey;
  ibv_send_wr* bad = nullptr;
  must(ibv_post_send(pair.client.id->qp, &request, &bad), "ibv_post_send");
}

void await_one_sided(Pair& pair) {
  const ibv_wc done = completion_of(pair.client.id->send_cq);
  if (done.status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(done.status));
}

void one_sided(Pair& pair, ibv_wr_opcode opcode) {
  post_one_sided(pair, opcode);
  await_one_sided(pair);
}

// Answers messages, or awaits answers; each is of one completion.
class Player {
 public:
  explicit Player(End& end) : end_(end), channel_(end.id->qp->recv_cq->channel) {}

  void arm() const {
    must(ibv_req_notify_cq(end_.id->qp->recv_cq, 0), "ibv_req_notify_cq");
    must(ibv_req_notify_cq(end_.id->qp->send_cq, 0), "ibv_req_notify_cq");
  }
  void await_message() {
    while (count_receives(done_) == 0) take_event(channel_, done_);
    done_.clear();
    must(end_.post_receive(1), "ibv_post_recv");
  }
  void send() {
    must(end_.post_send(2, end_.sge()), "ibv_post_send");
    ibv_cq* const sends = end_.id->qp->send_cq;
    if (sends->channel != channel_) completion_of(sends);
  }

 private:
  End& end_;
  ibv_comp_channel* const channel_;
  std::vector<ibv_wc> done_;
};

// Both queues of an end at one channel.
void use_one_channel(End& end, ibv_qp_init_attr& attributes) {
  ibv_context* const context = end.id->verbs;
  ibv_comp_channel* const channel =
      must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
  attributes.send_cq = must(ibv_create_cq(context, 32, nullptr, channel, 0), "ibv_create_cq");
  attributes.recv_cq = must(ibv_create_cq(context, 32, nullptr, channel, 0), "ibv_create_cq");
}

void play(Pair& pair, int rounds) {
  Player client(pair.client);
  Player server(pair.server);
  must(pair.client.post_receive(1), "ibv_post_recv");
  client.arm();
  server.arm();
  std::thread answers([&] {
    for (int i = 0; i < rounds; ++i) {
      server.await_message();
      server.send();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    client.send();
    client.await_message();
  }
  answers.join();
}

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
  std::thread once([&] { server.await_message(); });
  std::this_thread::sleep_for(20ms);
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

// The peer writes on and on: there is always something for which the thread wakes.
TEST(Blocking, SignalEndsTheWaitOfAThreadThatDrives) {
  Pair pair;
  must(ibv_req_notify_cq(pair.server.id->recv_cq, 0), "ibv_req_notify_cq");
  const test::SignalHandler handler(0);
  std::atomic<bool> enough{false};
  std::thread writes([&] {
    constexpr int kUnderWay = 8;
    for (int i = 0; i < kUnderWay; ++i) post_one_sided(pair, IBV_WR_RDMA_WRITE);
    for (; !enough; await_one_sided(pair)) post_one_sided(pair, IBV_WR_RDMA_WRITE);
    for (int i = 0; i < kUnderWay; ++i) await_one_sided(pair);
  });
  for (int i = 0; i < 10; ++i) {
    test::InterruptedCall call([channel = pair.server.id->recv_cq_channel] {
      ibv_cq* queue = nullptr;
      void* context = nullptr;
      return ibv_get_cq_event(channel, &queue, &context);
    });
    call.signal();
    for (int waits = 0; waits < 2000 && !call.over(); ++waits) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(call.over());
    call.signal_until_over();
    EXPECT_EQ(call.result(), -1);
    EXPECT_EQ(call.error(), EINTR);
  }
  enough = true;
  writes.join();
}

// The thread is the last that knows the queue.
TEST(Blocking, QueueMayGoWhileAThreadSleepsAndIsCancelled) {
  if (test::kSanitizer) GTEST_SKIP() << test::kNoCancelling;
  Pair pair;
  ibv_cq* const stays = pair.server.id->recv_cq;
  ibv_comp_channel* const channel = stays->channel;
  int cancelled = 0;
  for (int i = 0; i < 200; ++i) {
    ibv_cq* const goes =
        must(ibv_create_cq(pair.server.id->verbs, 4, nullptr, channel, 0), "ibv_create_cq");
    must(ibv_req_notify_cq(stays, 0), "ibv_req_notify_cq");
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, nullptr, &take_and_acknowledge, channel), 0);
    std::this_thread::sleep_for(100us);
    must(ibv_destroy_cq(goes), "ibv_destroy_cq");
    ASSERT_EQ(pair.client.post_send(1, pair.client.sge()), 0);
    std::this_thread::sleep_for(std::chrono::microseconds(i));
    pthread_cancel(thread);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    if (result == PTHREAD_CANCELED) {
      take_and_acknowledge(channel);  // it is still there
      ++cancelled;
    }
    ASSERT_EQ(completion_of(stays).status, IBV_WC_SUCCESS);
    must(pair.server.post_receive(1), "ibv_post_recv");
    ASSERT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
  }
  RecordProperty("cancelled", cancelled);
}

// The set of a thread that sleeps tells of a reset again and again, whether the socket is read or
// not. What the peer's program has not read makes its end a reset.
TEST(Blocking, ThreadSleepsAtAConnectionThatEndsWhileAMessageAwaitsAReceive) {
  if (test::kSanitizer) GTEST_SKIP() << test::kNoThreadsInChildren;
  sockaddr_in at = loopback();
  rdma_cm_id* listener = nullptr;
  must(rdma_create_id(nullptr, &listener, nullptr, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_bind_addr(listener, plain(at)), "rdma_bind_addr");
  must(rdma_listen(listener, 4), "rdma_listen");
  at.sin_port = rdma_get_src_port(listener);
  const pid_t child = test::fork_for();
  if (child == 0) {
    End client;
    must(rdma_create_id(nullptr, &client.id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_resolve_addr(client.id, nullptr, plain(at), 2000), "rdma_resolve_addr");
    must(rdma_resolve_route(client.id, 2000), "rdma_resolve_route");
    client.make_qp();
    must(rdma_connect(client.id, nullptr), "rdma_connect");
    must(client.post_send(1, client.sge()), "ibv_post_send");
    must(client.post_send(2, client.sge()), "ibv_post_send");
    completion_of(client.id->send_cq);
    completion_of(client.id->send_cq);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  End server;
  must(rdma_get_request(listener, &server.id), "rdma_get_request");
  server.make_qp();
  must(server.post_receive(1), "ibv_post_recv");
  must(ibv_req_notify_cq(server.id->recv_cq, 0), "ibv_req_notify_cq");
  must(rdma_accept(server.id, nullptr), "rdma_accept");
  take_and_acknowledge(server.id->recv_cq_channel);
  completion_of(server.id->recv_cq);
  must(ibv_req_notify_cq(server.id->recv_cq, 0), "ibv_req_notify_cq");
  SleepingThread sleeper([&] { take_and_acknowledge(server.id->recv_cq_channel); });
  ASSERT_EQ(::waitpid(child, nullptr, WUNTRACED), child);
  ASSERT_EQ(server.post_send(3, server.sge()), 0);
  std::this_thread::sleep_for(20ms);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::this_thread::sleep_for(100ms);
  const std::string told = sleeper.switches();
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(sleeper.switches(), told) << "of the reset, but once";
  must(server.post_receive(2), "ibv_post_recv");
  sleeper.join();  // of the message that waited, or its flush
  rdma_destroy_id(listener);
}

// Memory of which the program has been robbed, behind a thread that has been woken for nothing.
TEST(Blocking, PeerThatReachesForMemoryThatIsGoneIsRefused) {
  if (test::kSanitizer) GTEST_SKIP() << "the sanitizers handle faults themselves";
  Pair pair;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ibv_mr* const region = must(ibv_reg_mr(pair.server.id->pd, memory, page,
                                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                              "ibv_reg_mr");
  must(ibv_req_notify_cq(pair.server.id->recv_cq, 0), "ibv_req_notify_cq");
  SleepingThread sleeper([&] { take_and_acknowledge(pair.server.id->recv_cq_channel); });
  for (int i = 0; i < 20; ++i) one_sided(pair, IBV_WR_RDMA_WRITE);
  ::munmap(memory, page);
  ibv_sge from = pair.client.sge();
  ibv_send_wr write{};
  write.sg_list = &from;
  write.num_sge = 1;
  write.opcode = IBV_WR_RDMA_WRITE;
  write.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(memory);
  write.wr.rdma.rkey = region->rkey;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(pair.client.id->qp, &write, &bad), 0);
  sleeper.join();
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
  ibv_dereg_mr(region);
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
  std::this_thread::sleep_for(20ms);
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
