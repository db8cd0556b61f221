#pragma once

#include <memory>
#include <mutex>

#include "completion_queue.hpp"
#include "post.hpp"
#include "posting_phase.hpp"
#include "work_ring.hpp"

namespace iwarp::rnic {

/// The receive queue of a queue pair that has its own. Any thread.
class ReceiveQueue {
 public:
  struct Init {
    ibv_qp* qp = nullptr;
    PostLimits limits;
    std::uint32_t capacity = 0;
    std::shared_ptr<CompletionQueue> cq;
  };
  explicit ReceiveQueue(Init init)
      : init_(std::move(init)), number_(init_.qp->qp_num), ring_(init_.capacity) {}

  /// As verbs::QueuePair::post_receive().
  Result<void, verbs::PostError> post(std::span<const verbs::RecvWr> requests);
  /// The adapter tells no more: what is left has been flushed, and so is what is still posted.
  void give_up();

  /// The queue pair is being destroyed.
  void discard() { init_.cq->discard(ring_); }

  [[nodiscard]] const WorkRing& ring() const { return ring_; }
  [[nodiscard]] CompletionQueue& cq() const { return *init_.cq; }

 private:
  int post(const verbs::RecvWr& request);
  int hand_over(const verbs::RecvWr& request);

  const Init init_;
  const std::uint32_t number_;
  std::mutex mutex_;
  PostingPhase phase_ = PostingPhase::kTaken;
  WorkRing ring_;
};

}  // namespace iwarp::rnic
