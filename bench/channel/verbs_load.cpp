#include <rdma/rdma_cma.h>

#include <vector>

#include "load.hpp"
#include "sockets.hpp"
#include "verbs_pair.hpp"

namespace iwarp::bench::channel {
namespace {

constexpr int kPolledAtOnce = 64;

struct DestroyEndpoint {
  void operator()(rdma_cm_id* id) const { rdma_destroy_ep(id); }
};
using Endpoint = std::unique_ptr<rdma_cm_id, DestroyEndpoint>;

Endpoint resolve(const std::string& address, std::uint16_t port) {
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  rdma_addrinfo* at = nullptr;
  checked(rdma_getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &at),
          "rdma_getaddrinfo");
  rdma_cm_id* id = nullptr;
  const int result = rdma_create_ep(&id, at, nullptr, nullptr);
  rdma_freeaddrinfo(at);
  checked(result, "rdma_create_ep");
  return Endpoint(id);
}

// All clients have one completion queue, which is polled.
class VerbsLoad final : public Load {
 public:
  VerbsLoad(const std::string& address, std::uint16_t port, const Task& task) : task_(task) {
    for (std::uint32_t i = 0; i < task.clients; ++i) connect(resolve(address, port));
  }

  void begin() override {
    for (const VerbsAsker& one : askers_) one.pair->ask(one.id->qp);
  }
  void turn() override {
    ibv_wc done[kPolledAtOnce];
    const int count = checked(ibv_poll_cq(queue_.get(), kPolledAtOnce, done), "ibv_poll_cq");
    for (const ibv_wc& one : std::span(done).first(static_cast<std::size_t>(count))) {
      require_success(one);
      if (one.opcode != IBV_WC_RECV) continue;
      const VerbsAsker& asker = askers_.at(Pair::index_of(one));
      if (asker.pair->note(one)) answered_.push_back(&asker);
    }
    for (const VerbsAsker* one : answered_) one->pair->turn(one->id->qp);
    answered_.clear();
  }

 private:
  struct VerbsAsker {
    std::unique_ptr<Pair> pair;
    Endpoint id;  // goes first
  };

  void connect(Endpoint id) {
    if (!domain_) {
      domain_.reset(made(ibv_alloc_pd(id->verbs), "ibv_alloc_pd"));
      queue_.reset(
          made(ibv_create_cq(id->verbs, task_.clients * Pair::entries(task_), nullptr, nullptr, 0),
               "ibv_create_cq"));
    }
    const auto index = static_cast<std::uint32_t>(askers_.size());
    auto pair = std::make_unique<Pair>(domain_.get(), task_, index);
    ibv_qp_init_attr attributes = pair->attributes(queue_.get());
    checked(rdma_create_qp(id.get(), domain_.get(), &attributes), "rdma_create_qp");
    pair->begin(id->qp);
    rdma_conn_param parameters{};
    checked(rdma_connect(id.get(), &parameters), "rdma_connect");
    askers_.push_back({std::move(pair), std::move(id)});
  }

  const Task task_;
  Owned<ibv_pd> domain_;
  Owned<ibv_cq> queue_;
  std::vector<VerbsAsker> askers_;
  std::vector<const VerbsAsker*> answered_;  // by what one poll has found
};

}  // namespace

std::unique_ptr<Load> make_verbs_load(const std::string& address, std::uint16_t port,
                                      const Task& task) {
  return std::make_unique<VerbsLoad>(address, port, task);
}

}  // namespace iwarp::bench::channel
