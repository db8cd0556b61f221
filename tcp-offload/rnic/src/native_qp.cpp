#include "native_qp.hpp"

#include <cerrno>

namespace iwarp::rnic {
namespace {

using verbs::Outcome;

constexpr verbs::Access kEverything = verbs::Access::kRemoteWrite | verbs::Access::kRemoteRead;

}  // namespace

Outcome<std::shared_ptr<NativeQp>> NativeQp::make(Init init) {
  std::shared_ptr<NativeQp> made(new NativeQp(std::move(init)));
  if (auto done = made->create(); !done) return failure(done.error());
  return made;
}

Outcome<void> NativeQp::create() {
  const verbs::QpCapacity& wanted = init_.capacity;
  ibv_qp_init_attr attributes{};
  attributes.qp_context = &label_;
  attributes.send_cq = init_.send_cq->native();
  attributes.recv_cq = init_.recv_cq->native();
  attributes.srq = init_.srq ? init_.srq->native() : nullptr;
  // One more than the program asks for: see SendQueue::finish().
  attributes.cap = {wanted.max_send_wr + 1, wanted.max_recv_wr, wanted.max_send_sge,
                    wanted.max_recv_sge, wanted.max_inline};
  attributes.qp_type = IBV_QPT_RC;
  qp_ = core().ibv_create_qp(init_.pd->native(), &attributes);
  if (qp_ == nullptr) {
    return failure(init_.host->adapter()->error("a queue pair cannot be made", errno));
  }
  number_ = qp_->qp_num;
  sends_.emplace(SendQueue::Init{qp_, init_.limits, wanted.max_send_wr, init_.signaling,
                                 init_.send_cq, init_.pd->bound()});
  if (!init_.srq) {
    receives_.emplace(ReceiveQueue::Init{qp_, init_.limits, wanted.max_recv_wr, init_.recv_cq});
  }
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = kPort;
  state.qp_access_flags = native_access(kEverything);
  const int refused =
      modify(state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (refused == 0) return {};
  return failure(init_.host->adapter()->error("a queue pair takes no receives", refused));
}

int NativeQp::modify(ibv_qp_attr attributes, int which) {
  const int refused = core().ibv_modify_qp(qp_, &attributes, which);
  return refused < 0 ? errno : refused;
}

void NativeQp::allow_peer(verbs::Access rights) {
  const std::lock_guard lock(mutex_);
  const auto no_post = sends_->hold();
  if (qp_ == nullptr) return;
  ibv_qp_attr attributes{};
  attributes.qp_access_flags = native_access(rights) & native_access(kEverything);
  modify(attributes, IBV_QP_ACCESS_FLAGS);
}

bool NativeQp::finish_sends() {
  const std::lock_guard lock(mutex_);
  return qp_ == nullptr || sends_->finish();
}

void NativeQp::flush() {
  sends_->close();
  const std::lock_guard lock(mutex_);
  if (qp_ == nullptr) return;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  modify(attributes, IBV_QP_STATE);
}

bool NativeQp::is_flushed() {
  const std::lock_guard lock(mutex_);
  if (qp_ == nullptr) return true;
  init_.send_cq->gather();
  if (init_.recv_cq != init_.send_cq) init_.recv_cq->gather();
  return sends_->ring().settled() && (!receives_ || receives_->ring().outstanding() == 0);
}

void NativeQp::give_up() {
  const std::lock_guard lock(mutex_);
  if (qp_ == nullptr) return;
  sends_->give_up();
  if (receives_) receives_->give_up();
}

void NativeQp::discard() {
  if (sends_) sends_->discard();
  if (receives_) receives_->discard();
  leave_queues();
}

void NativeQp::leave_queues() {
  init_.send_cq->leave(number_);
  if (init_.recv_cq != init_.send_cq) init_.recv_cq->leave(number_);
}

// Completions that lie in the queues name slots that go with this.
void NativeQp::destroy() {
  const std::lock_guard lock(mutex_);
  if (qp_ == nullptr || origin_.inherited()) return;
  discard();
  core().ibv_destroy_qp(std::exchange(qp_, nullptr));
  leave_queues();
}

}  // namespace iwarp::rnic
