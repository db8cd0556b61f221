#include "verbs_pair.hpp"

#include <stdexcept>
#include <string>
#include <system_error>

namespace iwarp::bench::channel {
namespace {

// One send in so many completes with an entry, which gives the places of those before it back.
constexpr std::uint32_t kSignalInterval = 32;

std::uint32_t most_sends(std::size_t outstanding) {
  return 2 * (kSignalInterval + static_cast<std::uint32_t>(outstanding));
}

void require_posted(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

Pair::Pair(ibv_pd* domain, const Task& task, std::uint32_t index)
    : memory_((std::size_t{task.outstanding} + 1) * task.size),
      region_(made(ibv_reg_mr(domain, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE),
                   "ibv_reg_mr")),
      receives_(task.outstanding),
      sends_(task.outstanding) {
  const auto piece_at = [&](std::size_t place) {
    return ibv_sge{reinterpret_cast<std::uintptr_t>(memory_.data() + place * task.size), task.size,
                   region_->lkey};
  };
  message_ = piece_at(0);
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    Receive& one = receives_[i];
    one.piece = piece_at(i + 1);
    one.request.wr_id = std::uint64_t{index} << 32U | i;
    one.request.sg_list = &one.piece;
    one.request.num_sge = 1;
  }
  for (ibv_send_wr& one : sends_) {
    one.opcode = IBV_WR_SEND;
    one.sg_list = &message_;
    one.num_sge = 1;
  }
  due_.reserve(receives_.size());
}

ibv_qp_init_attr Pair::attributes(ibv_cq* queue) const {
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = attributes.recv_cq = queue;
  attributes.cap.max_send_wr = most_sends(sends_.size());
  attributes.cap.max_recv_wr = static_cast<std::uint32_t>(receives_.size());
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = message_.length;
  return attributes;
}

int Pair::entries(const Task& task) {
  return static_cast<int>(most_sends(task.outstanding) + task.outstanding);
}

void Pair::begin(ibv_qp* queue_pair) {
  for (Receive& one : receives_) due_.push_back(&one);
  post_receives(queue_pair);
}

bool Pair::note(const ibv_wc& received) {
  due_.push_back(&receives_.at(static_cast<std::uint32_t>(received.wr_id)));
  return due_.size() == 1;
}

// The receives first: the answer lets the peer send.
void Pair::turn(ibv_qp* queue_pair) {
  const std::size_t count = due_.size();
  post_receives(queue_pair);
  post_sends(queue_pair, count);
}

void Pair::post_receives(ibv_qp* queue_pair) {
  if (due_.empty()) return;
  for (std::size_t i = 0; i < due_.size(); ++i) {
    due_[i]->request.next = i + 1 < due_.size() ? &due_[i + 1]->request : nullptr;
  }
  ibv_recv_wr* bad = nullptr;
  require_posted(ibv_post_recv(queue_pair, &due_.front()->request, &bad), "ibv_post_recv");
  due_.clear();
}

void Pair::post_sends(ibv_qp* queue_pair, std::size_t count) {
  if (count == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    const bool signaled = ++unsignaled_ == kSignalInterval;
    if (signaled) unsignaled_ = 0;
    sends_[i].send_flags = IBV_SEND_INLINE | (signaled ? unsigned{IBV_SEND_SIGNALED} : 0U);
    sends_[i].next = i + 1 < count ? &sends_[i + 1] : nullptr;
  }
  ibv_send_wr* bad = nullptr;
  require_posted(ibv_post_send(queue_pair, sends_.data(), &bad), "ibv_post_send");
}

void require_success(const ibv_wc& done) {
  if (done.status == IBV_WC_SUCCESS) return;
  throw std::runtime_error(std::string("a request ended: ") + ibv_wc_status_str(done.status));
}

}  // namespace iwarp::bench::channel
