#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "compat/blocking.hpp"
#include "support/interrupted_call.hpp"
#include "support/sanitizers.hpp"

// What ends the sleep of a thread in ibv_get_cq_event(), beside events: signals and cancelling. And
// what goes while it sleeps: queues, connections, memory.
namespace iwarp::compat_test {
namespace {

using namespace std::chrono_literals;

// The peer writes on and on: there is always something for which the thread wakes.
TEST(BlockingEnds, SignalEndsTheWaitOfAThreadThatDrives) {
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
TEST(BlockingEnds, QueueMayGoWhileAThreadSleepsAndIsCancelled) {
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
TEST(BlockingEnds, ThreadSleepsAtAConnectionThatEndsWhileAMessageAwaitsAReceive) {
  if (test::kSanitizer) GTEST_SKIP() << test::kNoThreadsInChildren;
  sockaddr_in at{};
  rdma_cm_id* const listener = listen(at);
  const pid_t child = test::fork_for();
  if (child == 0) {
    End client;
    client.id = resolve(at);
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
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(sleeper.rests()) << "it is told of the reset once";
  must(server.post_receive(2), "ibv_post_recv");
  sleeper.join();  // of the message that waited, or its flush
  rdma_destroy_id(listener);
}

// Memory of which the program has been robbed, behind a thread that has been woken for nothing.
TEST(BlockingEnds, PeerThatReachesForMemoryThatIsGoneIsRefused) {
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

}  // namespace
}  // namespace iwarp::compat_test
