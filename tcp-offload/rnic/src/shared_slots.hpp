#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "work_slot.hpp"

namespace iwarp::rnic {

/// The receives of a shared queue, which complete in any order. Any thread.
class SharedSlots final : public SlotOwner {
 public:
  explicit SharedSlots(std::uint32_t capacity) : slots_(std::make_unique<WorkSlot[]>(capacity)) {
    free_.reserve(capacity);
    for (std::uint32_t at = 0; at < capacity; ++at) free_.push_back(&slots_[at]);
  }

  /// None if all are with the adapter.
  WorkSlot* take(std::uint64_t wr_id) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    WorkSlot* const slot = free_.back();
    free_.pop_back();
    *slot = {this, wr_id};
    return slot;
  }
  /// The adapter has not taken it after all.
  void give_back(WorkSlot& slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(&slot);
  }

  // SlotOwner
  bool complete(WorkSlot& slot, const ibv_wc& /*wc*/) override {
    give_back(slot);
    return true;
  }

 private:
  const std::unique_ptr<WorkSlot[]> slots_;
  std::mutex mutex_;
  std::vector<WorkSlot*> free_;
};

}  // namespace iwarp::rnic
