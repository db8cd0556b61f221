// A good client of siege_verbs_server: some messages that have to come back as they were, and a
// Read of the table. Ends with status 0 if all of it was right.
//
//   siege_verbs_client PORT
#include <rdma/rdma_verbs.h>

#include <algorithm>
#include <iostream>

#include "verbs_common.hpp"

namespace iwarp::siege {
namespace {

constexpr int kRounds = 10;
constexpr int kResolveMilliseconds = 5000;

class Client {
 public:
  explicit Client(std::uint16_t port);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();
  void exchange(char letter);
  void read_table();

 private:
  void make_queue_pair();
  void post_receive();

  rdma_cm_id* id_ = nullptr;
  std::array<char, kMessage> sent_{}, received_{};
  ibv_mr *sent_region_ = nullptr, *received_region_ = nullptr;
  Advertisement table_{};
};

void check(bool right, const char* what) {
  if (!right) throw std::runtime_error(what);
}

// One call after the other, as an id without a channel allows.
Client::Client(std::uint16_t port) {
  must(rdma_create_id(nullptr, &id_, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in to = loopback(port);
  must(rdma_resolve_addr(id_, nullptr, reinterpret_cast<sockaddr*>(&to), kResolveMilliseconds),
       "rdma_resolve_addr");
  must(rdma_resolve_route(id_, kResolveMilliseconds), "rdma_resolve_route");
  make_queue_pair();
  post_receive();
  rdma_conn_param parameters{};
  parameters.responder_resources = parameters.initiator_depth = 1;
  must(rdma_connect(id_, &parameters), "rdma_connect");
  const auto& told = id_->event->param.conn;
  check(told.private_data_len >= table_.size(), "the server does not say where its table is");
  std::copy_n(static_cast<const std::uint8_t*>(told.private_data), table_.size(), table_.begin());
}

Client::~Client() {
  rdma_disconnect(id_);
  rdma_dereg_mr(sent_region_);
  rdma_dereg_mr(received_region_);
  rdma_destroy_ep(id_);
}

void Client::make_queue_pair() {
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = 2;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.sq_sig_all = 1;
  must(rdma_create_qp(id_, nullptr, &attributes), "rdma_create_qp");
  sent_region_ = must(rdma_reg_msgs(id_, sent_.data(), sent_.size()), "rdma_reg_msgs");
  received_region_ = must(rdma_reg_msgs(id_, received_.data(), received_.size()), "rdma_reg_msgs");
}

void Client::post_receive() {
  must(rdma_post_recv(id_, nullptr, received_.data(), received_.size(), received_region_),
       "rdma_post_recv");
}

void Client::exchange(char letter) {
  sent_.fill(letter);
  ibv_wc done{};
  must(rdma_post_send(id_, nullptr, sent_.data(), sent_.size(), sent_region_, 0), "rdma_post_send");
  check(rdma_get_send_comp(id_, &done) == 1 && done.status == IBV_WC_SUCCESS, "a Send failed");
  check(rdma_get_recv_comp(id_, &done) == 1 && done.status == IBV_WC_SUCCESS, "no answer");
  check(done.byte_len == kMessage && received_ == sent_, "another answer than expected");
  post_receive();
}

void Client::read_table() {
  ibv_wc done{};
  must(rdma_post_read(id_, nullptr, sent_.data(), sent_.size(), sent_region_, 0,
                      number_at(table_.data(), 8),
                      static_cast<std::uint32_t>(number_at(table_.data() + 8, 4))),
       "rdma_post_read");
  check(rdma_get_send_comp(id_, &done) == 1 && done.status == IBV_WC_SUCCESS, "the Read failed");
  check(std::ranges::all_of(sent_, [](char c) { return c == 't'; }), "another table than expected");
}

void run(std::uint16_t port) {
  Client client(port);
  for (int i = 0; i < kRounds; ++i) client.exchange(static_cast<char>('a' + i));
  client.read_table();
}

}  // namespace
}  // namespace iwarp::siege

int main(int argc, char** argv) {
  try {
    iwarp::siege::run(iwarp::siege::port_of(argc == 2 ? argv[1] : ""));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "siege_verbs_client: " << error.what() << '\n';
    return 1;
  }
}
