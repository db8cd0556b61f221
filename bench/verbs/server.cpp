#include <arpa/inet.h>
#include <unistd.h>

#include <thread>
#include <unordered_map>

#include "end.hpp"

namespace iwarp::bench {
namespace {

rdma_cm_id* listen_on_loopback(const Options& options) {
  rdma_addrinfo hints{};
  hints.ai_flags = RAI_PASSIVE;
  hints.ai_port_space = RDMA_PS_TCP;
  rdma_addrinfo* at = nullptr;
  char host[] = "127.0.0.1";
  char service[] = "0";
  require(rdma_getaddrinfo(host, service, &hints, &at) == 0, "rdma_getaddrinfo");
  rdma_cm_id* listener = nullptr;
  require(rdma_create_ep(&listener, at, nullptr, nullptr) == 0, "rdma_create_ep");
  rdma_freeaddrinfo(at);
  require(rdma_listen(listener, static_cast<int>(options.pairs)) == 0, "rdma_listen");
  return listener;
}

void accept_one(End& end, rdma_cm_id* listener) {
  rdma_cm_id* id = nullptr;
  require(rdma_get_request(listener, &id) == 0, "rdma_get_request");
  end.make_pair(id);
  const Landing landing = end.landing();
  rdma_conn_param parameters{};
  parameters.private_data = &landing;
  parameters.private_data_len = sizeof landing;
  parameters.responder_resources = parameters.initiator_depth = 16;
  require(rdma_accept(id, &parameters) == 0, "rdma_accept");
}

// A client may have so many Sends under way on a queue pair until it hears of half of them.
class Credits {
 public:
  explicit Credits(End& end) : end_(end), due_((end.depth_of_pair() + 1) / 2) {}
  void on_receive(ibv_qp* pair) {
    end_.post_receives(pair, 1);
    std::uint32_t& received = received_[pair];
    if (++received != due_) return;
    received = 0;
    end_.post(pair, IBV_WR_SEND, 0);
  }

 private:
  End& end_;
  const std::uint32_t due_;
  std::unordered_map<ibv_qp*, std::uint32_t> received_;
};

}  // namespace

[[noreturn]] void serve(const Options& options, int port_to) {
  rdma_cm_id* listener = listen_on_loopback(options);
  const std::uint16_t port = ntohs(rdma_get_src_port(listener));
  require(write(port_to, &port, sizeof port) == sizeof port, "write");
  End end(options);
  for (std::uint32_t i = 0; i < options.pairs; ++i) accept_one(end, listener);
  for (Credits credits(end);;) {
    for (const ibv_wc& done : end.poll()) {
      if (done.status == IBV_WC_SUCCESS && done.opcode == IBV_WC_RECV) {
        credits.on_receive(reinterpret_cast<ibv_qp*>(done.wr_id));
      }
    }
  }
}

}  // namespace iwarp::bench
