#include <rdma/rdma_cma.h>

#include <iostream>
#include <map>

#include "server.hpp"
#include "sockets.hpp"
#include "verbs_pair.hpp"

namespace iwarp::bench::channel {
namespace {

constexpr int kAnsweredAtOnce = 16;
// Acknowledging takes a lock, so programs do it for many events together.
constexpr unsigned kEventsPerAcknowledgement = 64;

class VerbsService;

// A client, with a completion queue and a channel of its own.
class VerbsClient final : public Readable {
 public:
  VerbsClient(VerbsService& service, rdma_cm_id* id, ibv_pd* domain, const Task& task)
      : service_(service),
        id_(id),
        channel_(made(ibv_create_comp_channel(id->verbs), "ibv_create_comp_channel")),
        queue_(made(ibv_create_cq(id->verbs, Pair::entries(task), nullptr, channel_.get(), 0),
                    "ibv_create_cq")),
        pair_(domain, task, 0) {
    do_not_block(channel_->fd);
    ibv_qp_init_attr attributes = pair_.attributes(queue_.get());
    checked(rdma_create_qp(id, domain, &attributes), "rdma_create_qp");
  }
  ~VerbsClient() override {
    if (unacknowledged_ != 0) ibv_ack_cq_events(queue_.get(), unacknowledged_);
    if (id_->qp != nullptr) rdma_destroy_qp(id_);
    rdma_destroy_id(id_);
  }

  void accept() {
    checked(ibv_req_notify_cq(queue_.get(), 0), "ibv_req_notify_cq");
    pair_.begin(id_->qp);
    rdma_conn_param parameters{};
    checked(rdma_accept(id_, &parameters), "rdma_accept");
  }
  void on_readable() override;
  [[nodiscard]] rdma_cm_id* id() const { return id_; }
  [[nodiscard]] int descriptor() const { return channel_->fd; }

 private:
  void take_event();
  std::size_t answer_all();

  VerbsService& service_;
  rdma_cm_id* const id_;
  const Owned<ibv_comp_channel> channel_;
  const Owned<ibv_cq> queue_;
  Pair pair_;
  unsigned unacknowledged_ = 0;
};

class VerbsService final : public Service, public Readable {
 public:
  VerbsService(Events& events, const std::string& address, const Task& task);
  ~VerbsService() override;

  [[nodiscard]] std::uint16_t port() const override { return ntohs(rdma_get_src_port(listener_)); }
  [[nodiscard]] std::uint64_t exchanges() const override { return exchanges_; }
  void on_readable() override;
  void count(std::size_t answers) { exchanges_ += answers; }
  void let_go(rdma_cm_id* id);

 private:
  void take_in(rdma_cm_id* id);

  Events& events_;
  const Task task_;
  rdma_event_channel* channel_;
  rdma_cm_id* listener_ = nullptr;
  Owned<ibv_pd> domain_;  // of the device of the first client
  std::map<rdma_cm_id*, std::unique_ptr<VerbsClient>> clients_;
  std::uint64_t exchanges_ = 0;
};

void VerbsClient::on_readable() {
  try {
    take_event();
    service_.count(answer_all());
  } catch (const std::exception& error) {
    service_.let_go(id_);
  }
}

void VerbsClient::take_event() {
  ibv_cq* from = nullptr;
  void* context = nullptr;
  checked(ibv_get_cq_event(channel_.get(), &from, &context), "ibv_get_cq_event");
  if (++unacknowledged_ == kEventsPerAcknowledgement) {
    ibv_ack_cq_events(queue_.get(), unacknowledged_);
    unacknowledged_ = 0;
  }
  checked(-ibv_req_notify_cq(queue_.get(), 0), "ibv_req_notify_cq");
}

// What one poll finds is answered together.
std::size_t VerbsClient::answer_all() {
  std::size_t answers = 0;
  ibv_wc done[kAnsweredAtOnce];
  while (const int count =
             checked(ibv_poll_cq(queue_.get(), kAnsweredAtOnce, done), "ibv_poll_cq")) {
    for (const ibv_wc& one : std::span(done).first(static_cast<std::size_t>(count))) {
      require_success(one);
      if (one.opcode != IBV_WC_RECV) continue;
      pair_.note(one);
      ++answers;
    }
    pair_.turn(id_->qp);
  }
  return answers;
}

VerbsService::VerbsService(Events& events, const std::string& address, const Task& task)
    : events_(events),
      task_(task),
      channel_(made(rdma_create_event_channel(), "rdma_create_event_channel")) {
  checked(rdma_create_id(channel_, &listener_, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in at = endpoint(address, 0);
  checked(rdma_bind_addr(listener_, as_sockaddr(at)), "rdma_bind_addr");
  checked(rdma_listen(listener_, kBacklog), "rdma_listen");
  do_not_block(channel_->fd);
  events_.watch(channel_->fd, *this);
}

VerbsService::~VerbsService() {
  clients_.clear();
  if (listener_ != nullptr) rdma_destroy_id(listener_);
  rdma_destroy_event_channel(channel_);
}

void VerbsService::on_readable() {
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(channel_, &event) == 0) {
    rdma_cm_id* const id = event->id;
    const rdma_cm_event_type type = event->event;
    rdma_ack_cm_event(event);  // before its id may be destroyed
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      take_in(id);
    } else if (type != RDMA_CM_EVENT_ESTABLISHED) {
      let_go(id);
    }
  }
}

// One that cannot be served is refused, and the others are served on.
void VerbsService::take_in(rdma_cm_id* id) {
  try {
    if (!domain_) domain_.reset(made(ibv_alloc_pd(id->verbs), "ibv_alloc_pd"));
    auto client = std::make_unique<VerbsClient>(*this, id, domain_.get(), task_);
    client->accept();
    events_.watch(client->descriptor(), *client);
    clients_[id] = std::move(client);
  } catch (const std::exception& error) {
    std::cerr << "channel_bench: a client is refused: " << error.what() << '\n';
  }
}

void VerbsService::let_go(rdma_cm_id* id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  events_.forget(found->second->descriptor());
  events_.bury(std::move(found->second));
  clients_.erase(found);
}

}  // namespace

std::unique_ptr<Service> make_verbs_service(Events& events, const std::string& address,
                                            const Task& task) {
  return std::make_unique<VerbsService>(events, address, task);
}

}  // namespace iwarp::bench::channel
