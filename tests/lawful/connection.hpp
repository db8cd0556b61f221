#pragma once

#include <poll.h>

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "lawful/ids.hpp"

namespace iwarp::lawful {

/// A channel of events, for which a test waits at most twenty seconds.
class Channel {
 public:
  Channel() : channel_(must(rdma_create_event_channel(), "rdma_create_event_channel")) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { destroy(); }
  [[nodiscard]] rdma_event_channel* get() const { return channel_; }
  void destroy() {
    if (channel_ != nullptr) rdma_destroy_event_channel(std::exchange(channel_, nullptr));
  }

  /// Whether an event comes within so many milliseconds.
  [[nodiscard]] bool has_event(int milliseconds = 20'000) const {
    pollfd ready{channel_->fd, POLLIN, 0};
    return ::poll(&ready, 1, milliseconds) == 1;
  }
  /// The next event, which the caller acknowledges.
  [[nodiscard]] rdma_cm_event* take() const {
    if (!has_event()) throw std::runtime_error("no event came");
    rdma_cm_event* event = nullptr;
    must(rdma_get_cm_event(channel_, &event), "rdma_get_cm_event");
    return event;
  }
  /// Takes the next one and acknowledges it; its id.
  rdma_cm_id* expect(rdma_cm_event_type type, int status = 0) const {
    rdma_cm_event* const event = take();
    EXPECT_EQ(event->event, type) << rdma_event_str(event->event) << ", not "
                                  << rdma_event_str(type);
    EXPECT_EQ(event->status, status);
    rdma_cm_id* const id = event->id;
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
    return id;
  }

 private:
  rdma_event_channel* channel_;
};

/// A server that listens at loopback, and a client that has resolved its address. Both wait at
/// channels, and make their queue pairs by rdma_create_qp().
struct Connection {
  Channel client_channel, server_channel;
  Id listener{server_channel.get()};
  std::optional<Id> client{std::in_place, client_channel.get()};
  std::optional<Id> server;  ///< From request() on.
  std::array<char, 64> memory{};
  std::map<ibv_pd*, ibv_mr*> regions;  ///< Of that memory.

  Connection() {
    SocketAddress at = address(here());
    must(rdma_bind_addr(listener.get(), at.plain()), "rdma_bind_addr");
    must(rdma_listen(listener.get(), 8), "rdma_listen");
    SocketAddress to = address(here(), ntohs(rdma_get_src_port(listener.get())));
    must(rdma_resolve_addr(client->get(), nullptr, to.plain(), 2000), "rdma_resolve_addr");
    client_channel.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    must(rdma_resolve_route(client->get(), 2000), "rdma_resolve_route");
    client_channel.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    make_qp(*client);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    for (const auto& [pd, region] : regions) ibv_dereg_mr(region);
  }
  static void make_qp(const Id& id) {
    ibv_qp_init_attr attributes = compat_test::small_qp();
    must(rdma_create_qp(id.get(), nullptr, &attributes), "rdma_create_qp");
  }
  /// Posts a receive of some octets. 0, or an errno.
  int post_receive(const rdma_cm_id* at, std::uint64_t wr_id) {
    ibv_mr*& region = regions[at->pd];
    if (region == nullptr) {
      region = must(ibv_reg_mr(at->pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE),
                    "ibv_reg_mr");
    }
    ibv_sge some{reinterpret_cast<std::uintptr_t>(memory.data()), 16, region->lkey};
    ibv_recv_wr request{}, *bad = nullptr;
    request.wr_id = wr_id;
    request.sg_list = &some;
    request.num_sge = 1;
    return ibv_post_recv(at->qp, &request, &bad);
  }
  /// The client asks, the server has its request and a queue pair.
  void request() {
    must(rdma_connect(client->get(), nullptr), "rdma_connect");
    server.emplace(server_channel.expect(RDMA_CM_EVENT_CONNECT_REQUEST));
    make_qp(*server);
  }
  void establish() {
    request();
    must(rdma_accept(server->get(), nullptr), "rdma_accept");
    server_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
    client_channel.expect(RDMA_CM_EVENT_ESTABLISHED);
  }
};

/// Posts a message of no octets. 0, or an errno.
inline int post_empty_send(ibv_qp* qp, std::uint64_t wr_id = 0) {
  ibv_send_wr request{}, *bad = nullptr;
  request.wr_id = wr_id;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  return ibv_post_send(qp, &request, &bad);
}

}  // namespace iwarp::lawful
