#include <sys/socket.h>
#include <unistd.h>

#include "compat/pair.hpp"

// What lies between rdma_accept() and the event that the connection is there.
namespace iwarp::compat_test {
namespace {

// A listener with a channel, as a server's that waits in rdma_get_cm_event().
class Accepting : public testing::Test {
 protected:
  Accepting() {
    channel_ = must(rdma_create_event_channel(), "rdma_create_event_channel");
    must(rdma_create_id(channel_, &listener_, nullptr, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_bind_addr(listener_, plain(at_)), "rdma_bind_addr");
    must(rdma_listen(listener_, 1), "rdma_listen");
    at_.sin_port = rdma_get_src_port(listener_);
  }
  ~Accepting() override {
    rdma_destroy_id(listener_);
    rdma_destroy_event_channel(channel_);
  }

  struct Event {
    rdma_cm_event_type type;
    int status;
    rdma_cm_id* id;
  };
  Event next() {
    rdma_cm_event* event = nullptr;
    must(rdma_get_cm_event(channel_, &event), "rdma_get_cm_event");
    const Event taken{event->event, event->status, event->id};
    rdma_ack_cm_event(event);
    return taken;
  }
  void take_request(End& server) {
    const Event event = next();
    ASSERT_EQ(event.type, RDMA_CM_EVENT_CONNECT_REQUEST);
    server.id = event.id;
    server.make_qp();
  }

  sockaddr_in at_ = loopback();

 private:
  rdma_event_channel* channel_ = nullptr;
  rdma_cm_id* listener_ = nullptr;
};

// perftest does so: the other side has told it by other means that the connection is there.
TEST_F(Accepting, ProgramPostsWithoutWaitingForTheEvent) {
  End client, server;
  must(rdma_create_id(nullptr, &client.id, nullptr, RDMA_PS_TCP), "rdma_create_id");
  must(rdma_resolve_addr(client.id, nullptr, plain(at_), 2000), "rdma_resolve_addr");
  must(rdma_resolve_route(client.id, 2000), "rdma_resolve_route");
  client.make_qp();
  ASSERT_EQ(client.post_receive(1), 0);
  std::thread connector([&] { EXPECT_EQ(rdma_connect(client.id, nullptr), 0); });
  take_request(server);
  EXPECT_EQ(rdma_accept(server.id, nullptr), 0);
  EXPECT_EQ(server.post_send(2, server.sge()), 0);
  connector.join();
  EXPECT_EQ(completion_of(client.id->recv_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(completion_of(server.id->send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(next().type, RDMA_CM_EVENT_ESTABLISHED);
}

// It asks for an RTR indication (RFC 6581 §9) and goes away instead of sending one.
TEST_F(Accepting, PeerThatNeverComesIsAConnectionError) {
  const int peer = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(peer, plain(at_), sizeof at_), 0);
  // CRC and enhanced connection data, revision 2, four octets of them: peer to peer with an IRD of
  // 1, and a Write as RTR with an ORD of 1.
  constexpr char kRequest[] = "MPA ID Req Frame\x50\x02\x00\x04\x80\x01\x80\x01";
  ASSERT_EQ(::send(peer, kRequest, sizeof kRequest - 1, 0), 24);
  End server;
  take_request(server);
  ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
  EXPECT_EQ(server.post_send(2, server.sge()), 0);
  std::array<char, 24> reply{};
  ASSERT_EQ(::recv(peer, reply.data(), reply.size(), MSG_WAITALL), 24);
  ::close(peer);
  const Event event = next();
  EXPECT_EQ(event.type, RDMA_CM_EVENT_CONNECT_ERROR);
  EXPECT_EQ(event.status, -ECONNRESET);
  EXPECT_EQ(event.id, server.id);
  EXPECT_EQ(completion_of(server.id->send_cq).status, IBV_WC_WR_FLUSH_ERR);
}

}  // namespace
}  // namespace iwarp::compat_test
