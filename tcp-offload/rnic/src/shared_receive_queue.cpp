#include "shared_receive_queue.hpp"

#include <cerrno>

#include "iwarp/provider/inherited.hpp"
#include "receive_request.hpp"

namespace iwarp::rnic {

using verbs::Outcome;
using verbs::PostError;
using verbs::RecvWr;

SharedReceiveQueue::SharedReceiveQueue(std::shared_ptr<ProtectionDomain> pd,
                                       std::unique_ptr<EventLabel> label, NativeSrq srq,
                                       const verbs::provider::SrqOptions& options)
    : pd_(std::move(pd)),
      label_(std::move(label)),
      srq_(std::move(srq)),
      limits_{.max_recv_sge = options.max_sge},
      slots_(options.max_wr) {}

Outcome<std::shared_ptr<SharedReceiveQueue>> SharedReceiveQueue::make(
    const std::shared_ptr<ProtectionDomain>& pd, const verbs::provider::SrqOptions& options) {
  const Adapter& adapter = pd->adapter();
  if (options.share != 0) {
    return verbs::fail(std::errc::not_supported,
                       adapter.name + ": a share of a shared receive queue cannot be limited");
  }
  auto label = std::make_unique<EventLabel>(EventLabel{pd->host(), pd->adapter().next_number()});
  ibv_srq_init_attr init{};
  init.srq_context = label.get();
  init.attr = {options.max_wr, options.max_sge, 0};
  NativeSrq srq(adapter.core.ibv_create_srq(pd->native(), &init), {&adapter.core});
  if (srq) {
    return std::shared_ptr<SharedReceiveQueue>(
        new SharedReceiveQueue(pd, std::move(label), std::move(srq), options));
  }
  return failure(adapter.error(
      "a shared receive queue of " + std::to_string(options.max_wr) + " receives cannot be made",
      errno));
}

SharedReceiveQueue::~SharedReceiveQueue() {
  if (origin_.inherited()) static_cast<void>(srq_.release());
  srq_.reset();  // its slots are behind it
}

Result<void, PostError> SharedReceiveQueue::post_receive(std::span<const RecvWr> requests) {
  if (origin_.refuses()) return verbs::refused_post();
  const Admitted taken = admitted(requests, limits_);
  for (std::size_t at = 0; at != taken.count; ++at) {
    WorkSlot* const slot = slots_.take(requests[at].wr_id);
    if (slot == nullptr) return failure(PostError{std::errc::not_enough_memory, at});
    const int error = hand_over(requests[at], *slot);
    if (error != 0) return failure(PostError{static_cast<std::errc>(error), at});
  }
  if (taken.why) return failure(*taken.why);
  return {};
}

int SharedReceiveQueue::hand_over(const RecvWr& request, WorkSlot& slot) {
  ReceiveRequest native(request, slot);
  ibv_recv_wr* refused = nullptr;
  const int error = errno_of_post(ibv_post_srq_recv(srq_.get(), native.native(), &refused));
  if (error == 0) return 0;
  slots_.give_back(slot);
  return error;
}

Outcome<void> SharedReceiveQueue::arm_limit(std::uint32_t limit) {
  if (origin_.refuses()) return verbs::refused();
  ibv_srq_attr attributes{};
  attributes.srq_limit = limit;
  const int refused = pd_->adapter().core.ibv_modify_srq(srq_.get(), &attributes, IBV_SRQ_LIMIT);
  if (refused == 0) return {};
  return failure(pd_->adapter().error(
      "the shared receive queue takes no limit of " + std::to_string(limit), refused));
}

std::uint32_t SharedReceiveQueue::limit() const {
  if (origin_.refuses()) return 0;
  ibv_srq_attr attributes{};
  if (pd_->adapter().core.ibv_query_srq(srq_.get(), &attributes) != 0) return 0;
  return attributes.srq_limit;
}

}  // namespace iwarp::rnic
