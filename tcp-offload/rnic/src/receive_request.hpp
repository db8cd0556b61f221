#pragma once

#include <array>

#include "send_batch.hpp"
#include "work_slot.hpp"

namespace iwarp::rnic {

/// A receive as the adapter takes it. Not to be moved: it refers to itself.
class ReceiveRequest {
 public:
  /// The most elements; see DeviceAttributes::max_sge.
  static constexpr std::size_t kMostSges = 64;

  ReceiveRequest(const verbs::RecvWr& request, const WorkSlot& slot) {
    wr_.wr_id = reinterpret_cast<std::uintptr_t>(&slot);
    wr_.sg_list = elements_.data();
    wr_.num_sge = static_cast<int>(copy_sges(request.sges, elements_.data()) - elements_.data());
    if (wr_.num_sge != 0) return;
    elements_[0] = {};  // siw's library takes no receive without an element
    wr_.num_sge = 1;
  }
  ReceiveRequest(const ReceiveRequest&) = delete;
  ReceiveRequest& operator=(const ReceiveRequest&) = delete;

  [[nodiscard]] ibv_recv_wr* native() { return &wr_; }

 private:
  ibv_recv_wr wr_{};
  std::array<ibv_sge, kMostSges> elements_;
};

}  // namespace iwarp::rnic
