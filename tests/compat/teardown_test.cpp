#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>

#include "compat/pair.hpp"
#include "support/forked_child.hpp"

// Programs that destroy what another of their threads waits at, as rping does at its end. As in the
// kernel, the thread gets its event if it came first, and else waits for ever.
namespace iwarp::compat_test {
namespace {

constexpr int kRounds = 300;

// What the thread of a round came to; it outlives the round.
struct Waiter {
  enum class End { kNone, kEvent, kError };
  std::atomic<End> end{End::kNone};
  std::atomic<pid_t> thread{0};
};

// Runs `wait` on a thread of its own, and returns when it waits.

template <typename Wait>
std::shared_ptr<Waiter> start(const Wait& wait) {
  auto waiter = std::make_shared<Waiter>();
  std::thread([waiter, wait] {
    waiter->thread = gettid();
    waiter->end = wait() == 0 ? Waiter::End::kEvent : Waiter::End::kError;
  }).detach();
  while (waiter->thread == 0 || !test::sleeps(waiter->thread)) std::this_thread::yield();
  return waiter;
}

TEST(Teardown, ThreadAtAnEventChannelSeesAnEventOrNothing) {
  int waiting = 0;
  for (int round = 0; round < kRounds; ++round) {
    rdma_event_channel* const channel =
        must(rdma_create_event_channel(), "rdma_create_event_channel");
    rdma_cm_id* id = nullptr;
    must(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    const auto waiter = start([channel, id] {
      rdma_cm_event* event = nullptr;
      if (rdma_get_cm_event(channel, &event) != 0) return -1;
      const bool right = event->id == id && event->event == RDMA_CM_EVENT_ADDR_RESOLVED;
      return rdma_ack_cm_event(event) == 0 && right ? 0 : -1;
    });
    sockaddr_in at = loopback(1);
    must(rdma_resolve_addr(id, nullptr, plain(at), 2000), "rdma_resolve_addr");
    std::this_thread::sleep_for(std::chrono::microseconds(round % 30));
    ASSERT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
    ASSERT_NE(waiter->end, Waiter::End::kError) << "round " << round;
    waiting += waiter->end == Waiter::End::kNone ? 1 : 0;
  }
  RecordProperty("rounds_without_event", waiting);
}

TEST(Teardown, ThreadAtACompletionChannelSeesAnEventOrNothing) {
  Pair pair;
  ibv_context* const context = pair.client.id->verbs;
  for (int round = 0; round < kRounds; ++round) {
    ibv_comp_channel* const channel =
        must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
    ibv_cq* const cq = must(ibv_create_cq(context, 8, nullptr, channel, 0), "ibv_create_cq");
    ibv_qp_init_attr attributes = small_qp();
    attributes.send_cq = attributes.recv_cq = cq;
    ibv_qp* const qp = must(ibv_create_qp(pair.client.id->pd, &attributes), "ibv_create_qp");
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
    ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
    const auto waiter = start([channel, cq] {
      ibv_cq* from = nullptr;
      void* its_context = nullptr;
      if (ibv_get_cq_event(channel, &from, &its_context) != 0) return -1;
      const bool right = from == cq;
      ibv_ack_cq_events(from, 1);
      return right ? 0 : -1;
    });
    ibv_recv_wr request{};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(qp, &request, &bad), 0);  // is flushed, which is an event
    std::this_thread::sleep_for(std::chrono::microseconds(round % 30));
    ASSERT_EQ(ibv_destroy_qp(qp), 0);
    ASSERT_EQ(ibv_destroy_cq(cq), 0);
    ASSERT_EQ(ibv_destroy_comp_channel(channel), 0);
    ASSERT_NE(waiter->end, Waiter::End::kError) << "round " << round;
  }
}

}  // namespace
}  // namespace iwarp::compat_test
