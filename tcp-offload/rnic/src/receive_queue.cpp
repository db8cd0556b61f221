#include "receive_queue.hpp"

#include <algorithm>
#include <cerrno>

#include "receive_request.hpp"

namespace iwarp::rnic {

using verbs::PostError;
using verbs::RecvWr;

Result<void, PostError> ReceiveQueue::post(std::span<const RecvWr> requests) {
  const std::lock_guard lock(mutex_);
  const Admitted taken = admitted(requests, init_.limits);
  if (ring_.room() < taken.count) init_.cq->gather();
  for (std::size_t at = 0; at != taken.count; ++at) {
    const int error = post(requests[at]);
    if (error != 0) return failure(PostError{static_cast<std::errc>(error), at});
  }
  if (taken.why) return failure(*taken.why);
  return {};
}

int ReceiveQueue::post(const RecvWr& request) {
  if (phase_ == PostingPhase::kFlushed) {
    return init_.cq->flush(request.wr_id, number_) ? 0 : ENOMEM;
  }
  return ring_.room() == 0 ? ENOMEM : hand_over(request);
}

int ReceiveQueue::hand_over(const RecvWr& request) {
  ReceiveRequest native(request, ring_.post(request.wr_id, Told::kAlways, true));
  ibv_recv_wr* refused = nullptr;
  const int error = errno_of_post(ibv_post_recv(init_.qp, native.native(), &refused));
  if (error == 0) return 0;
  init_.cq->take_back(ring_, 1);
  return error;
}

void ReceiveQueue::give_up() {
  const std::lock_guard lock(mutex_);
  phase_ = PostingPhase::kFlushed;
  init_.cq->give_up(ring_, number_);
}

}  // namespace iwarp::rnic
