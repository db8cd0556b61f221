#include "end.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace iwarp::bench {

void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "verbs_bench: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

void End::make_common(ibv_context* device) {
  const std::size_t size = std::max<std::size_t>(options_.size, 4096);
  memory_ = std::make_unique<std::byte[]>(size);
  domain_ = ibv_alloc_pd(device);
  require(domain_ != nullptr, "ibv_alloc_pd");
  region_ = ibv_reg_mr(domain_, memory_.get(), size,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  require(region_ != nullptr, "ibv_reg_mr");
  if (options_.events) {
    channel_ = ibv_create_comp_channel(device);
    require(channel_ != nullptr, "ibv_create_comp_channel");
  }
  const std::uint32_t most = options_.pairs * (depth_of_pair() + receives_of_pair() + 8);
  queue_ = ibv_create_cq(device, static_cast<int>(most), nullptr, channel_, 0);
  require(queue_ != nullptr, "ibv_create_cq");
}

void End::make_pair(rdma_cm_id* id) {
  if (queue_ == nullptr) make_common(id->verbs);
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = queue_;
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  attributes.cap.max_send_wr = depth_of_pair() + 4;
  attributes.cap.max_recv_wr = receives_of_pair();
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  require(rdma_create_qp(id, domain_, &attributes) == 0, "rdma_create_qp");
  post_receives(id->qp, receives_of_pair());
}

void End::post_receives(ibv_qp* pair, std::uint32_t count) {
  ibv_sge piece{landing().address, options_.size, region_->lkey};
  for (; count != 0; --count) {
    ibv_recv_wr request{};
    request.wr_id = reinterpret_cast<std::uintptr_t>(pair);
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    require(ibv_post_recv(pair, &request, &bad) == 0, "ibv_post_recv");
  }
}

void End::post(ibv_qp* pair, ibv_wr_opcode opcode, std::uint32_t length, const Landing& to) {
  ibv_sge piece{landing().address, length, region_->lkey};
  ibv_send_wr request{};
  request.wr_id = reinterpret_cast<std::uintptr_t>(pair);
  request.sg_list = &piece;
  request.num_sge = length == 0 ? 0 : 1;
  request.opcode = opcode;
  request.wr.rdma.remote_addr = to.address;
  request.wr.rdma.rkey = to.rkey;
  ibv_send_wr* bad = nullptr;
  require(ibv_post_send(pair, &request, &bad) == 0, "ibv_post_send");
}

std::span<const ibv_wc> End::look() {
  const int count = ibv_poll_cq(queue_, static_cast<int>(std::size(completions_)), completions_);
  require(count >= 0, "ibv_poll_cq");
  return {completions_, static_cast<std::size_t>(count)};
}

std::span<const ibv_wc> End::poll() {
  const auto found = look();
  if (!found.empty() || channel_ == nullptr) return found;
  require(ibv_req_notify_cq(queue_, 0) == 0, "ibv_req_notify_cq");
  const auto meanwhile = look();
  if (!meanwhile.empty()) return meanwhile;
  ibv_cq* of = nullptr;
  void* context = nullptr;
  require(ibv_get_cq_event(channel_, &of, &context) == 0, "ibv_get_cq_event");
  ibv_ack_cq_events(of, 1);
  return look();
}

}  // namespace iwarp::bench
