#include <netinet/in.h>
#include <sys/socket.h>

#include "compat/host.hpp"
#include "support/sanitizers.hpp"

// Threads that wait, and a program whose end takes only its own connections with it.
namespace iwarp::compat_test {
namespace {

using namespace std::chrono_literals;

void* await_cq_event(void* channel) {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  ibv_get_cq_event(static_cast<ibv_comp_channel*>(channel), &cq, &context);
  return nullptr;
}

void* await_cm_event(void* channel) {
  rdma_cm_event* event = nullptr;
  rdma_get_cm_event(static_cast<rdma_event_channel*>(channel), &event);
  return nullptr;
}

void* await_async_event(void* context) {
  ibv_async_event event{};
  ibv_get_async_event(static_cast<ibv_context*>(context), &event);
  return nullptr;
}

void cancel(void* (*body)(void*), void* argument) {
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, body, argument), 0);
  std::this_thread::sleep_for(20ms);
  ASSERT_EQ(pthread_cancel(thread), 0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST(Waiting, ThreadThatWaitsCanBeCancelled) {
  if (test::kSanitizer) GTEST_SKIP() << test::kNoCancelling;
  Pair pair;
  cancel(&await_cq_event, pair.client.id->send_cq_channel);
  cancel(&await_async_event, pair.client.id->verbs);
  rdma_event_channel* const channel =
      must(rdma_create_event_channel(), "rdma_create_event_channel");
  cancel(&await_cm_event, channel);
  rdma_destroy_event_channel(channel);
  ASSERT_EQ(ibv_req_notify_cq(pair.client.id->send_cq, 0), 0);
  pair.expect_alive();
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(pair.client.id->send_cq_channel, &cq, &context), 0)
      << "the event is still there for another";
  ibv_ack_cq_events(cq, 1);
}

// Adapters make no system call for these: a thread that is cancelled meanwhile does them whole, and
// the queue pair goes on.
TEST(Waiting, PostsAndPollsAreNoCancellationPoints) {
  Pair pair;
  bool came_to_the_end = false;
  std::thread cancelled([&] {
    pthread_cancel(pthread_self());
    ibv_wc wc{};
    ibv_poll_cq(pair.server.id->recv_cq, 1, &wc);
    pair.client.post_send(1, pair.client.sge());
    ibv_poll_cq(pair.client.id->send_cq, 0, &wc);
    pair.server.post_receive(101);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    came_to_the_end = true;
  });
  cancelled.join();
  ASSERT_TRUE(came_to_the_end);
  EXPECT_EQ(completion_of(pair.client.id->send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_SUCCESS);
  pair.expect_alive();
}

TEST(Waiting, ThreadWhoseEventIsThereCanBeCancelled) {
  if (test::kAddressSanitizer) GTEST_SKIP() << test::kNoCancelling;
  Pair pair;
  ASSERT_EQ(ibv_req_notify_cq(pair.client.id->send_cq, 0), 0);
  pair.expect_alive();
  bool came_to_the_end = false;
  std::thread cancelled([&] {
    pthread_cancel(pthread_self());
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    ibv_get_cq_event(pair.client.id->send_cq_channel, &cq, &context);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    came_to_the_end = true;
  });
  cancelled.join();
  EXPECT_FALSE(came_to_the_end);
}

TEST(Waiting, EndsWithTheEventOfAnEnd) {
  Pair pair;
  must(rdma_disconnect(pair.client.id), "rdma_disconnect");
  EXPECT_EQ(pair.client.id->event->event, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
}

// As one that the manager has made: its receives do not stay posted.
TEST(OwnQueuePair, HearsOfItsPeersEnd) {
  const Host host;
  ibv_qp* const qp = host.make_qp();
  sockaddr_in at{};
  rdma_cm_id* const listener = listen(at);
  rdma_cm_id* request = nullptr;
  std::thread acceptor([&] {
    must(rdma_get_request(listener, &request), "rdma_get_request");
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    int which = 0;
    must(rdma_init_qp_attr(request, &attributes, &which), "rdma_init_qp_attr");
    must(ibv_modify_qp(qp, &attributes, which), "ibv_modify_qp");
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    must(ibv_post_recv(qp, &receive, &bad), "ibv_post_recv");
    rdma_conn_param parameters{};
    parameters.qp_num = qp->qp_num;
    must(rdma_accept(request, &parameters), "rdma_accept");
  });
  {
    End client;
    client.id = resolve(at);
    client.make_qp();
    must(rdma_connect(client.id, nullptr), "rdma_connect");
    acceptor.join();
    must(rdma_disconnect(client.id), "rdma_disconnect");
  }
  EXPECT_EQ(completion_of(host.cq).status, IBV_WC_WR_FLUSH_ERR);
  rdma_destroy_id(request);
  rdma_destroy_id(listener);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

// A listener on :: takes IPv4 too, unless it was told not to.
TEST(Listening, OptionKeepsTheFamiliesApart) {
  for (const int only : {0, 1}) {
    rdma_cm_id* listener = nullptr;
    must(rdma_create_id(nullptr, &listener, nullptr, RDMA_PS_TCP), "rdma_create_id");
    int value = only;
    must(rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &value, sizeof value),
         "rdma_set_option");
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    must(rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&any)), "rdma_bind_addr");
    must(rdma_listen(listener, 4), "rdma_listen");
    sockaddr_in at = loopback(ntohs(rdma_get_src_port(listener)));
    End client, server;
    std::thread acceptor([&] {
      if (only != 0) return;
      must(rdma_get_request(listener, &server.id), "rdma_get_request");
      server.make_qp();
      must(rdma_accept(server.id, nullptr), "rdma_accept");
    });
    client.id = resolve(at);
    client.make_qp();
    EXPECT_EQ(rdma_connect(client.id, nullptr), only != 0 ? -1 : 0);
    if (only != 0) {
      EXPECT_EQ(errno, ECONNREFUSED);
    }
    acceptor.join();
    rdma_destroy_id(listener);
  }
}

// How many connected sockets of this process have a type of service.
int sockets_with(int type_of_service) {
  int count = 0;
  for (int each = 3; each < 1024; ++each) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(each, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    int value = -1;
    size = sizeof value;
    if (::getsockopt(each, IPPROTO_IP, IP_TOS, &value, &size) == 0 && value == type_of_service) {
      ++count;
    }
  }
  return count;
}

TEST(Options, TypeOfServiceReachesTheSockets) {
  constexpr std::uint8_t kClients = 0x68, kServers = 0x48;
  Pair pair({}, [](rdma_cm_id* id, bool listens) {
    std::uint8_t value = listens ? kServers : kClients;
    must(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &value, sizeof value),
         "rdma_set_option");
  });
  pair.expect_alive();
  EXPECT_EQ(sockets_with(kClients), 1);
  EXPECT_EQ(sockets_with(kServers), 1);
}

TEST(Ends, OneOfTwoConnectionsLeavesTheOther) {
  Pair other;
  {
    Pair pair;
    pair.expect_alive();
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(ibv_modify_qp(pair.client.id->qp, &attributes, IBV_QP_STATE), 0);
    EXPECT_EQ(completion_of(pair.server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
  }
  other.expect_alive();
}

}  // namespace
}  // namespace iwarp::compat_test
