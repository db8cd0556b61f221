#pragma once

#include <memory>
#include <mutex>

#include "completion_queue.hpp"
#include "memory.hpp"
#include "post.hpp"
#include "posting_phase.hpp"
#include "send_batch.hpp"
#include "work_ring.hpp"

namespace iwarp::rnic {

/// The send queue of a queue pair. Any thread.
///
/// The adapter tells of a request that the program does not want to hear of only where that is
/// needed to know that there is room again, twice in a queue; and of all that it would otherwise
/// send out of the program's memory for longer than the program knows, PostLimits::max_silent.
class SendQueue {
 public:
  struct Init {
    ibv_qp* qp = nullptr;
    PostLimits limits;
    std::uint32_t capacity = 0;
    verbs::Signaling signaling = verbs::Signaling::kPerRequest;
    std::shared_ptr<CompletionQueue> cq;
    std::shared_ptr<BoundMemory> memory;
  };
  explicit SendQueue(Init init)
      : init_(std::move(init)),
        number_(init_.qp->qp_num),
        ring_(init_.capacity + kMarker, init_.cq->swallowed()) {}

  /// As verbs::QueuePair::post_send().
  Result<void, verbs::PostError> post(std::span<const verbs::SendWr> requests,
                                      verbs::Posting posting);
  /// From now on requests are taken, and not any more.
  void open();
  void close();

  /// Takes over what the adapter has done, and asks it to tell when the rest is, if it was not
  /// asked; whether nothing is left. For the end of a connection: behind close().
  bool finish();
  /// The adapter tells no more: what is left has been flushed, and so is what is still posted.
  void give_up();

  /// No post takes place as long as the caller holds it: where the adapter is to change its state.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  /// The queue pair is being destroyed.
  void discard() { init_.cq->discard(ring_); }

  [[nodiscard]] const WorkRing& ring() const { return ring_; }
  [[nodiscard]] CompletionQueue& cq() const { return *init_.cq; }

 private:
  static constexpr std::uint32_t kMarker = 1;  // the room for finish()

  struct Given {
    std::size_t count = 0;
    int error = 0;
  };
  [[nodiscard]] std::uint32_t room() const;
  void check_binds(std::span<const verbs::SendWr> requests, Admitted& taken) const;
  void make_room(std::size_t wanted);
  [[nodiscard]] bool is_told(const verbs::SendWr& request) const;
  [[nodiscard]] bool is_swallowed(const verbs::SendWr& request) const;
  void reserve_places(std::span<const verbs::SendWr> requests, Admitted& taken);
  Result<void, verbs::PostError> flush(std::span<const verbs::SendWr> requests);
  Given give(std::span<const verbs::SendWr> requests);
  Given hand_over();
  void add(const verbs::SendWr& request);
  bool post_marker();

  const Init init_;
  const std::uint32_t number_;
  std::mutex mutex_;
  PostingPhase phase_ = PostingPhase::kRefused;
  bool marked_ = false;
  std::uint32_t silent_ = 0;  // in a row, of which the adapter does not tell
  std::uint32_t places_ = 0;  // reserved for what is being posted
  WorkRing ring_;
  SendBatch batch_;
};

}  // namespace iwarp::rnic
