#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "compat/pair.hpp"
#include "support/forked_child.hpp"

/// Threads that sleep in ibv_get_cq_event(), and what their peers do meanwhile.
namespace iwarp::compat_test {

/// A thread that has come to its sleep.
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
  /// Waits until it has slept on for a while; false if it does not within two seconds.
  [[nodiscard]] bool rests() const {
    for (int looks = 0; looks < 100; ++looks) {
      const std::string before = switches();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (test::sleeps(number_) && switches() == before) return true;
    }
    return false;
  }
  /// How often it has been woken, and gone to sleep again, as a text.
  [[nodiscard]] std::string switches() const {
    return test::status_of_thread(std::to_string(number_)).switches;
  }

 private:
  std::atomic<pid_t> number_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Takes an event of the channel, arms its queue, and takes what has completed there.
inline std::size_t take_event(ibv_comp_channel* channel, std::vector<ibv_wc>& into) {
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

inline std::size_t count_receives(const std::vector<ibv_wc>& done) {
  std::size_t count = 0;
  for (const ibv_wc& one : done) {
    if (one.status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(one.status));
    count += one.opcode == IBV_WC_RECV ? 1 : 0;
  }
  return count;
}

inline void* take_and_acknowledge(void* channel) {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(static_cast<ibv_comp_channel*>(channel), &queue, &context) == 0) {
    ibv_ack_cq_events(queue, 1);
  }
  return nullptr;
}

/// The client writes to the second quarter of the server's memory, or reads from there.
inline void post_one_sided(Pair& pair, ibv_wr_opcode opcode) {
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

inline void await_one_sided(Pair& pair) {
  const ibv_wc done = completion_of(pair.client.id->send_cq);
  if (done.status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(done.status));
}

inline void one_sided(Pair& pair, ibv_wr_opcode opcode) {
  post_one_sided(pair, opcode);
  await_one_sided(pair);
}

/// Answers messages, or awaits answers; each is of one completion.
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

/// Both queues of an end at one channel.
inline void use_one_channel(End& end, ibv_qp_init_attr& attributes) {
  ibv_context* const context = end.id->verbs;
  ibv_comp_channel* const channel =
      must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
  attributes.send_cq = must(ibv_create_cq(context, 32, nullptr, channel, 0), "ibv_create_cq");
  attributes.recv_cq = must(ibv_create_cq(context, 32, nullptr, channel, 0), "ibv_create_cq");
}

inline void play(Pair& pair, int rounds) {
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

}  // namespace iwarp::compat_test
