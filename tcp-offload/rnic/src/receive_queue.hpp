#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "completion_queue.hpp"
#include "post.hpp"
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
  explicit ReceiveQueue(Init init) : init_(std::move(init)), ring_(init_.capacity) {}

  /// As verbs::QueuePair::post_receive(), until give_up().
  Result<void, verbs::PostError> post(std::span<const verbs::RecvWr> requests);
  /// The adapter tells no more: what is left has been flushed.
  void give_up();

  [[nodiscard]] const WorkRing& ring() const { return ring_; }
  [[nodiscard]] CompletionQueue& cq() const { return *init_.cq; }

 private:
  int hand_over(const verbs::RecvWr& request);

  const Init init_;
  std::mutex mutex_;
  bool open_ = true;
  WorkRing ring_;
};

/// The most elements of a receive; see DeviceAttributes::max_sge.
inline constexpr std::size_t kMostReceiveSges = 64;

}  // namespace iwarp::rnic
