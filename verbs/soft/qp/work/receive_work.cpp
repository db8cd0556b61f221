#include "soft/qp/work/receive_work.hpp"

#include <mutex>

#include "soft/qp/work/copy_sges.hpp"

namespace iwarp::verbs::soft {

ReceiveWork::ReceiveWork(const SoftQpInit& init)
    : max_sge_(init.capacity.max_recv_sge),
      srq_(init.srq),
      shared_(init.srq),
      own_places_(init.capacity.max_recv_wr),
      own_(init.srq ? 0 : init.capacity.max_recv_wr, max_sge_) {}

Result<void, PostError> ReceiveWork::post(std::span<const RecvWr> requests) {
  if (srq_) {
    return failure(PostError{.code = std::errc::invalid_argument,
                             .reason = "the queue pair receives from a shared receive queue"});
  }
  const Guard lock(lock_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const RecvWr& request = requests[i];
    if (own_places_.room() == 0) return failure(PostError{std::errc::not_enough_memory, i});
    if (request.sges.size() > max_sge_) {
      return failure(PostError{std::errc::invalid_argument, i, PostField::kSges, 0,
                               "more elements than QpCapacity::max_recv_sge"});
    }
    copy_sges(request.sges, own_.vacant_sges());
    own_places_.take();
    own_.append(request.wr_id, request.sges.size());
  }
  return {};
}

rdmap::ReceiveSource& ReceiveWork::source() {
  if (srq_) return shared_;
  return own_;
}

PlaceOwner& ReceiveWork::places() {
  if (srq_) return shared_.places();
  return own_places_;
}

}  // namespace iwarp::verbs::soft
