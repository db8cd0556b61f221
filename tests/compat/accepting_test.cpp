#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "compat/pair.hpp"

// What lies between rdma_accept() and the first message of the connection.
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
    pollfd there{channel_->fd, POLLIN, 0};
    if (::poll(&there, 1, 20'000) != 1) throw std::runtime_error("no event came");
    rdma_cm_event* event = nullptr;
    must(rdma_get_cm_event(channel_, &event), "rdma_get_cm_event");
    const Event taken{event->event, event->status, event->id};
    rdma_ack_cm_event(event);
    return taken;
  }
  [[nodiscard]] bool event_is_there() const {
    pollfd there{channel_->fd, POLLIN, 0};
    return ::poll(&there, 1, 0) == 1;
  }
  void make_client(End& client) {
    client.id = resolve(at_);
    client.make_qp();
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
  make_client(client);
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

// ---- Peers that say nothing behind their Request ----

// It asks for an RTR indication (RFC 6581 §9), which it never sends.
class SilentPeer {
 public:
  explicit SilentPeer(sockaddr_in at) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    // CRC and enhanced connection data, revision 2, four octets of them: peer to peer with an IRD
    // of 1, and a Write as RTR with an ORD of 1.
    constexpr char kRequest[] = "MPA ID Req Frame\x50\x02\x00\x04\x80\x01\x80\x01";
    EXPECT_EQ(::connect(socket_, plain(at), sizeof at), 0);
    EXPECT_EQ(::send(socket_, kRequest, sizeof kRequest - 1, 0), 24);
  }
  SilentPeer(const SilentPeer&) = delete;
  SilentPeer& operator=(const SilentPeer&) = delete;
  ~SilentPeer() { leave(); }

  void await_reply() {
    std::array<char, 24> reply{};
    EXPECT_EQ(::recv(socket_, reply.data(), reply.size(), MSG_WAITALL), 24);
  }
  void leave() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    leave();
  }

 private:
  int socket_;
};

TEST_F(Accepting, PeerThatSaysNothingIsConnectedUntilItLeaves) {
  for (const bool gracefully : {true, false}) {
    SilentPeer peer(at_);
    End server;
    take_request(server);
    ASSERT_EQ(server.post_receive(1), 0);
    ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
    EXPECT_EQ(server.post_send(2, server.sge()), 0);
    const Event established = next();
    EXPECT_EQ(established.type, RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(established.id, server.id);
    peer.await_reply();
    gracefully ? peer.leave() : peer.reset();
    const Event gone = next();
    EXPECT_EQ(gone.type, RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_EQ(gone.status, 0);
    EXPECT_EQ(completion_of(server.id->send_cq).status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(completion_of(server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
  }
}

// Programs that keep several connections count on it: each is told in its turn.
TEST_F(Accepting, PeerThatSaysNothingKeepsNoEventOfOthersBehind) {
  SilentPeer first_peer(at_);
  End first, second, client;
  take_request(first);
  ASSERT_EQ(rdma_accept(first.id, nullptr), 0);
  make_client(client);
  std::thread connector([&] { EXPECT_EQ(rdma_connect(client.id, nullptr), 0); });
  const Event events[] = {next(), next()};
  EXPECT_EQ(events[0].type, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(events[0].id, first.id);
  ASSERT_EQ(events[1].type, RDMA_CM_EVENT_CONNECT_REQUEST);
  second.id = events[1].id;
  second.make_qp();
  ASSERT_EQ(rdma_accept(second.id, nullptr), 0);
  const Event established = next();
  EXPECT_EQ(established.type, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(established.id, second.id);
  connector.join();
}

// As the kernel's connection manager for iWARP: the call says so, and no event does.
TEST_F(Accepting, AnswerToAPeerThatHasGoneFails) {
  for (const bool accepts : {true, false}) {
    SilentPeer peer(at_);
    End server, other;
    take_request(server);
    ASSERT_EQ(server.post_receive(1), 0);
    peer.reset();
    SilentPeer behind(at_);  // whose Request shows that the reset has been seen
    take_request(other);
    errno = 0;
    EXPECT_EQ(accepts ? rdma_accept(server.id, nullptr) : rdma_reject(server.id, nullptr, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
    if (accepts) {
      EXPECT_EQ(completion_of(server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
    }
    ASSERT_EQ(rdma_accept(other.id, nullptr), 0);
    const Event established = next();
    EXPECT_EQ(established.type, RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(established.id, other.id);
    behind.leave();
    EXPECT_EQ(next().type, RDMA_CM_EVENT_DISCONNECTED);
  }
}

// ---- Events and completions ----

// In rdma-core nothing is flushed before the rejection can be taken.
TEST_F(Accepting, RejectionIsThereBeforeWhatItFlushes) {
  for (int round = 0; round < 30; ++round) {
    rdma_event_channel* const channel =
        must(rdma_create_event_channel(), "rdma_create_event_channel");
    {
      End client;
      make_client(client);
      ASSERT_EQ(rdma_migrate_id(client.id, channel), 0);
      ASSERT_EQ(client.post_receive(1), 0);
      ASSERT_EQ(rdma_connect(client.id, nullptr), 0);
      End server;
      take_request(server);
      ASSERT_EQ(rdma_reject(server.id, nullptr, 0), 0);
      ibv_wc wc{};
      while (ibv_poll_cq(client.id->recv_cq, 1, &wc) == 0) {
      }
      EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
      pollfd there{channel->fd, POLLIN, 0};
      EXPECT_EQ(::poll(&there, 1, 0), 1) << "flushed before the event is there, round " << round;
      rdma_cm_event* event = nullptr;
      ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);
      EXPECT_EQ(event->event, RDMA_CM_EVENT_REJECTED);
      rdma_ack_cm_event(event);
    }
    rdma_destroy_event_channel(channel);
  }
}

// A server that polls already when the first message comes.
TEST_F(Accepting, ConnectionIsThereBeforeItsFirstMessage) {
  for (int round = 0; round < 30; ++round) {
    End client, server;
    make_client(client);
    std::thread connector([&] {
      EXPECT_EQ(rdma_connect(client.id, nullptr), 0);
      EXPECT_EQ(client.post_send(2, client.sge()), 0);
    });
    take_request(server);
    ASSERT_EQ(server.post_receive(1), 0);
    ASSERT_EQ(rdma_accept(server.id, nullptr), 0);
    ibv_wc wc{};
    while (ibv_poll_cq(server.id->recv_cq, 1, &wc) == 0) {
    }
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_TRUE(event_is_there()) << "a message before its connection, round " << round;
    EXPECT_EQ(next().type, RDMA_CM_EVENT_ESTABLISHED);
    connector.join();
    ASSERT_EQ(rdma_disconnect(client.id), 0);
    EXPECT_EQ(next().type, RDMA_CM_EVENT_DISCONNECTED);
  }
}

}  // namespace
}  // namespace iwarp::compat_test
