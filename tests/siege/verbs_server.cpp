// A server to be besieged, written as programs for adapters are: librdmacm, one completion queue
// and a shared receive queue for all peers. It answers each message by the same octets, and lets
// peers read a table. Knows nothing of iWARP; run it under `iwarp run`.
//
//   siege_verbs_server PORT
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "verbs_common.hpp"

namespace iwarp::siege {
namespace {

constexpr std::size_t kReceives = 256;  // of all peers together
// That a peer may leave untaken: more than a good client asks for, as a Send may be reported as
// complete after the peer has taken it and has said the next thing.
constexpr std::size_t kAnswers = 16;
constexpr std::size_t kTable = 256U << 10;
constexpr int kBacklog = 1024;
constexpr std::uint64_t kReceiveBit = std::uint64_t{1} << 32;

using Message = std::array<char, kMessage>;

// A peer, with the answers that are on their way to it.
struct Peer {
  rdma_cm_id* id;
  std::vector<Message> answers = std::vector<Message>(kAnswers);
  ibv_mr* region = nullptr;
  std::vector<std::uint32_t> spare = std::vector<std::uint32_t>(kAnswers);
  bool gone = false;  // It has been disconnected; what was posted is still to be flushed.

  Peer(rdma_cm_id* of, ibv_pd* pd) : id(of) {
    std::iota(spare.begin(), spare.end(), 0U);
    region = must(ibv_reg_mr(pd, answers.data(), kAnswers * kMessage, 0), "ibv_reg_mr");
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    ibv_dereg_mr(region);
    rdma_destroy_id(id);
  }
};

class Server {
 public:
  explicit Server(std::uint16_t port);
  [[noreturn]] void run();
  [[nodiscard]] std::uint16_t port() const { return ntohs(rdma_get_src_port(listener_)); }

 private:
  void make_queues(ibv_context* device);
  [[nodiscard]] ibv_context* device() const { return pd_->context; }
  void take_events();
  void on_request(rdma_cm_id* id);
  void on_end(rdma_cm_id* id);
  void take_async_events();
  void take_completions();
  void complete(const ibv_wc& done);
  void answer(Peer& peer, std::uint32_t slot, std::uint32_t length);
  void post_receive(std::uint32_t slot);
  void forget(std::uint32_t number);

  rdma_event_channel* channel_;
  rdma_cm_id* listener_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_comp_channel* completions_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_srq* srq_ = nullptr;
  std::vector<Message> received_ = std::vector<Message>(kReceives);
  std::vector<char> table_ = std::vector<char>(kTable, 't');
  ibv_mr *received_region_ = nullptr, *table_region_ = nullptr;
  std::map<std::uint32_t, std::unique_ptr<Peer>> peers_;  // by queue pair number
};

void do_not_block(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

Server::Server(std::uint16_t port)
    : channel_(must(rdma_create_event_channel(), "rdma_create_event_channel")) {
  must(rdma_create_id(channel_, &listener_, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in at = loopback(port);
  must(rdma_bind_addr(listener_, reinterpret_cast<sockaddr*>(&at)), "rdma_bind_addr");
  must(rdma_listen(listener_, kBacklog), "rdma_listen");
  do_not_block(channel_->fd);
}

// An id that listens at loopback has no device; the first request tells which it is.
void Server::make_queues(ibv_context* device) {
  pd_ = must(ibv_alloc_pd(device), "ibv_alloc_pd");
  completions_ = must(ibv_create_comp_channel(device), "ibv_create_comp_channel");
  cq_ = must(ibv_create_cq(device, 16384, nullptr, completions_, 0), "ibv_create_cq");
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = kReceives;
  attributes.attr.max_sge = 1;
  srq_ = must(ibv_create_srq(pd_, &attributes), "ibv_create_srq");
  received_region_ =
      must(ibv_reg_mr(pd_, received_.data(), kReceives * kMessage, IBV_ACCESS_LOCAL_WRITE),
           "ibv_reg_mr");
  table_region_ =
      must(ibv_reg_mr(pd_, table_.data(), table_.size(), IBV_ACCESS_REMOTE_READ), "ibv_reg_mr");
  for (std::uint32_t i = 0; i < kReceives; ++i) post_receive(i);
  must(ibv_req_notify_cq(cq_, 0), "ibv_req_notify_cq");
  for (const int fd : {completions_->fd, device->async_fd}) do_not_block(fd);
}

void Server::run() {
  for (;;) {
    const bool any = pd_ != nullptr;  // else poll(2) passes over the two
    std::array<pollfd, 3> ready{{{channel_->fd, POLLIN, 0},
                                 {any ? completions_->fd : -1, POLLIN, 0},
                                 {any ? device()->async_fd : -1, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), -1);
    if (ready[0].revents != 0) take_events();
    if (ready[1].revents != 0) take_completions();
    if (ready[2].revents != 0) take_async_events();
  }
}

void Server::take_events() {
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(channel_, &event) == 0) {
    rdma_cm_id* const id = event->id;
    const rdma_cm_event_type type = event->event;
    rdma_ack_cm_event(event);  // Before its id may be destroyed.
    switch (type) {
      case RDMA_CM_EVENT_CONNECT_REQUEST: on_request(id); break;
      case RDMA_CM_EVENT_CONNECT_ERROR:
      case RDMA_CM_EVENT_UNREACHABLE:
      case RDMA_CM_EVENT_REJECTED:
      case RDMA_CM_EVENT_DISCONNECTED: on_end(id); break;
      default: break;
    }
  }
}

void Server::on_request(rdma_cm_id* id) {
  if (pd_ == nullptr) make_queues(id->verbs);
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = attributes.recv_cq = cq_;
  attributes.srq = srq_;
  attributes.cap.max_send_wr = kAnswers;
  attributes.cap.max_send_sge = 1;
  if (rdma_create_qp(id, pd_, &attributes) != 0) {
    rdma_reject(id, nullptr, 0);
    rdma_destroy_id(id);
    return;
  }
  const std::uint32_t number = id->qp->qp_num;
  peers_[number] = std::make_unique<Peer>(id, pd_);
  const Advertisement where = advertise(*table_region_);
  rdma_conn_param parameters{};
  parameters.private_data = where.data();
  parameters.private_data_len = static_cast<std::uint8_t>(where.size());
  parameters.responder_resources = parameters.initiator_depth = 8;
  if (rdma_accept(id, &parameters) != 0) forget(number);  // It has gone already.
}

// What its queue pair has taken of the shared queue comes back before it is destroyed: the event
// says when that is.
void Server::on_end(rdma_cm_id* id) {
  const auto found = peers_.find(id->qp->qp_num);
  if (found == peers_.end() || found->second->gone) return;
  found->second->gone = true;
  rdma_disconnect(id);
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(id->qp, &error, IBV_QP_STATE);
}

void Server::take_async_events() {
  ibv_async_event event{};
  while (ibv_get_async_event(device(), &event) == 0) {
    const bool last = event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED;
    const std::uint32_t number = last ? event.element.qp->qp_num : 0;
    ibv_ack_async_event(&event);
    if (!last) continue;
    take_completions();
    forget(number);  // Whether DISCONNECTED has come before or not: its id takes that along.
  }
}

void Server::take_completions() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  unsigned events = 0;
  while (ibv_get_cq_event(completions_, &queue, &context) == 0) ++events;
  if (events > 0) ibv_ack_cq_events(cq_, events);
  must(ibv_req_notify_cq(cq_, 0), "ibv_req_notify_cq");
  std::array<ibv_wc, 64> done;
  int count = 0;
  while ((count = ibv_poll_cq(cq_, done.size(), done.data())) > 0) {
    for (int i = 0; i < count; ++i) complete(done[static_cast<std::size_t>(i)]);
  }
}

void Server::complete(const ibv_wc& done) {
  const auto slot = static_cast<std::uint32_t>(done.wr_id);
  const bool receive = (done.wr_id & kReceiveBit) != 0;
  const auto found = peers_.find(done.qp_num);
  if (found != peers_.end() && done.status == IBV_WC_SUCCESS && receive) {
    answer(*found->second, slot, done.byte_len);
  } else if (found != peers_.end() && !receive) {
    found->second->spare.push_back(slot);
  }
  if (receive) post_receive(slot);
}

// A peer that leaves its answers untaken is sent away, so that it keeps no others waiting.
void Server::answer(Peer& peer, std::uint32_t slot, std::uint32_t length) {
  if (peer.gone) return;
  if (peer.spare.empty()) {
    rdma_disconnect(peer.id);
    return;
  }
  const std::uint32_t own = peer.spare.back();
  peer.answers[own] = received_[slot];
  ibv_sge place{reinterpret_cast<std::uintptr_t>(&peer.answers[own]), length, peer.region->lkey};
  ibv_send_wr request{};
  request.wr_id = own;
  request.sg_list = &place;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(peer.id->qp, &request, &bad) == 0) peer.spare.pop_back();
}

void Server::post_receive(std::uint32_t slot) {
  ibv_sge place{reinterpret_cast<std::uintptr_t>(&received_[slot]), kMessage,
                received_region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = kReceiveBit | slot;
  request.sg_list = &place;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  must(ibv_post_srq_recv(srq_, &request, &bad), "ibv_post_srq_recv");
}

void Server::forget(std::uint32_t number) { peers_.erase(number); }

}  // namespace
}  // namespace iwarp::siege

int main(int argc, char** argv) {
  try {
    iwarp::siege::Server server(iwarp::siege::port_of(argc == 2 ? argv[1] : ""));
    std::cout << "listens at port " << server.port() << std::endl;
    server.run();
  } catch (const std::exception& error) {
    std::cerr << "siege_verbs_server: " << error.what() << '\n';
    return 1;
  }
}
