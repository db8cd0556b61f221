#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <span>
#include <utility>

#include "iwarp/verbs/types.hpp"
#include "work_slot.hpp"

namespace iwarp::rnic {

/// The requests of a queue that completes in their order, or nearly: siw tells of an RDMA Read when
/// the response is there, and of what was posted behind it when that is sent. One thread posts at a
/// time, and one takes completions at a time; the two may be different ones.
class WorkRing final : public SlotOwner {
 public:
  /// `swallowed` counts the reserved places of the completion queue. Of `position` requests it is
  /// taken that they have been posted and are done; positions begin anew behind 2^32 - 1.
  explicit WorkRing(std::uint32_t capacity, std::atomic<std::uint32_t>* swallowed = nullptr,
                    std::uint32_t position = 0)
      : capacity_(capacity),
        mask_(std::bit_ceil(2 * capacity) - 1),
        slots_(std::make_unique<WorkSlot[]>(std::size_t{mask_} + 1)),
        swallowed_(swallowed),
        posted_(position),
        freed_(position),
        finished_(position),
        awaited_(position),
        told_(position) {}

  /// Behind the end of the queue pair in the adapter, whose completions take no places any more.
  ~WorkRing() override {
    const std::uint32_t places = places_.load(std::memory_order_relaxed);
    if (places != 0) swallowed_->fetch_sub(places, std::memory_order_relaxed);
  }
  WorkRing(const WorkRing&) = delete;
  WorkRing& operator=(const WorkRing&) = delete;

  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  /// How many more requests it takes.
  [[nodiscard]] std::uint32_t room() const {
    const std::uint32_t posted = posted_.load(std::memory_order_relaxed);
    const std::uint32_t slots = mask_ + 1 - (posted - freed_.load(std::memory_order_acquire));
    return std::min(capacity_ - outstanding(), slots);
  }
  /// Requests that are not known to be done.
  [[nodiscard]] std::uint32_t outstanding() const {
    return posted_.load(std::memory_order_relaxed) - finished_.load(std::memory_order_acquire);
  }
  /// Whether the adapter has told of everything of which it was to tell.
  [[nodiscard]] bool settled() const {
    const std::uint32_t awaited = awaited_.load(std::memory_order_relaxed);
    return static_cast<std::int32_t>(awaited - freed_.load(std::memory_order_acquire)) <= 0;
  }

  /// The slot of the next request. It counts as posted at once: its completion may be faster than
  /// the call that posts it. With `swallowed` it has a place that is reserved. Precondition: room()
  /// != 0.
  WorkSlot& post(std::uint64_t wr_id, Told told, bool signaled, bool swallowed = false) {
    const std::uint32_t position = posted_.load(std::memory_order_relaxed);
    WorkSlot& slot = slots_[position & mask_];
    slot = {this, wr_id, position, told, signaled, false, swallowed};
    if (swallowed) places_.fetch_add(1, std::memory_order_relaxed);
    posted_.store(position + 1, std::memory_order_relaxed);
    if (signaled) awaited_.store(position + 1, std::memory_order_relaxed);
    return slot;
  }
  /// The adapter has not taken the last ones after all. With the completion queue's lock.
  void take_back(std::uint32_t count);

  // SlotOwner: with it those requests before it are done, too, of which the adapter does not tell.
  // siw tells twice of a Read that waited for room among those that are outstanding, when the
  // connection ends between its turn and its transmission.
  bool complete(WorkSlot& slot, const ibv_wc& wc) override;

  /// The connection is over, and the adapter tells no more: calls `tell` for each request of which
  /// it was to tell. With the completion queue's lock, and no post under way.
  template <typename Tell>
  void give_up(Tell tell) {
    given_up_ = true;
    const std::uint32_t posted = posted_.load(std::memory_order_relaxed);
    for (std::uint32_t at = freed_.load(std::memory_order_relaxed); at != posted; ++at) {
      const WorkSlot& slot = slots_[at & mask_];
      if (slot.signaled && !slot.done) tell(slot);
      freed_.store(at + 1, std::memory_order_release);  // `tell` may throw: it is not told again
    }
    finished_.store(posted, std::memory_order_release);
  }

  /// The queue pair is being destroyed: nothing of it is told any more. As give_up().
  void discard() {
    give_up([](const WorkSlot&) {});
  }

  /// What the adapter said of the first request that failed otherwise than by being flushed.
  struct Fault {
    ibv_wc_status status = IBV_WC_SUCCESS;
    std::uint32_t vendor_error = 0;
  };
  [[nodiscard]] Fault fault() const;
  /// Whether a request was flushed.
  [[nodiscard]] bool has_flushed() const { return flushed_.load(std::memory_order_relaxed); }

 private:
  /// Its completion has been taken from the completion queue, or does not come.
  void leave_place(WorkSlot& slot) {
    if (!std::exchange(slot.swallowed, false)) return;
    places_.fetch_sub(1, std::memory_order_relaxed);
    swallowed_->fetch_sub(1, std::memory_order_release);
  }

  const std::uint32_t capacity_;
  // Of a power of two, so that slots follow each other past the wrap. There are twice as many as
  // requests: those behind one that takes long do not wait for its slot.
  const std::uint32_t mask_;
  const std::unique_ptr<WorkSlot[]> slots_;
  std::atomic<std::uint32_t>* const swallowed_;
  std::atomic<std::uint32_t> places_{0};  // of those in *swallowed_
  std::atomic<std::uint32_t> posted_;     // the position of the next one
  std::atomic<std::uint32_t> freed_;      // of the first one whose slot is still needed
  std::atomic<std::uint32_t> finished_;   // so many are done
  std::atomic<std::uint32_t> awaited_;    // behind the last one of which the adapter is to tell
  std::uint32_t told_;  // behind the last one of which the adapter has told; for completions
  std::atomic<std::uint64_t> fault_{0};
  std::atomic<bool> flushed_{false};
  bool given_up_ = false;
};

}  // namespace iwarp::rnic
