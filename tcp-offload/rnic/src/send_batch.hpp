#pragma once

#include <array>

#include "bound_memory.hpp"
#include "iwarp/verbs/types.hpp"
#include "rdma_core.hpp"
#include "work_slot.hpp"

namespace iwarp::rnic {

/// A list of the verbs' elements as the adapter takes it, behind `into`; the end of that.
ibv_sge* copy_sges(std::span<const verbs::Sge> sges, ibv_sge* into);

/// Send requests as the adapter takes them: up to kMost at a time, in a row. Too large to be kept
/// on the stack of each call: a queue has one.
class SendBatch {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostSges = 64;

  void clear() { count_ = sges_ = 0; }
  /// Whether there is room for one more, with so many elements.
  [[nodiscard]] bool has_room(std::size_t sges) const {
    return count_ != kMost && sges <= kMostSges - sges_;
  }
  /// Precondition: has_room().
  void add(const verbs::SendWr& request, const WorkSlot& slot, const BindTargets& bind);
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] ibv_send_wr* first() { return requests_.data(); }

 private:
  std::array<ibv_send_wr, kMost> requests_{};
  std::array<ibv_sge, kMostSges> elements_{};
  std::size_t count_ = 0, sges_ = 0;
};

}  // namespace iwarp::rnic
