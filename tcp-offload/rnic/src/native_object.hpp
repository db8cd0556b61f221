#pragma once

#include <memory>

#include "rdma_core.hpp"

namespace iwarp::rnic {

/// Ends an object of the adapter by the call of that name.
template <auto kCall>
struct EndBy {
  const RdmaCore* core = nullptr;
  template <typename T>
  void operator()(T* object) const {
    (core->*kCall)(object);
  }
};

/// Objects of the adapter, which end with this: also where memory runs out behind their making.
using NativePd = std::unique_ptr<ibv_pd, EndBy<&RdmaCore::ibv_dealloc_pd>>;
using NativeMr = std::unique_ptr<ibv_mr, EndBy<&RdmaCore::ibv_dereg_mr>>;
using NativeChannel = std::unique_ptr<ibv_comp_channel, EndBy<&RdmaCore::ibv_destroy_comp_channel>>;
using NativeCq = std::unique_ptr<ibv_cq, EndBy<&RdmaCore::ibv_destroy_cq>>;
using NativeSrq = std::unique_ptr<ibv_srq, EndBy<&RdmaCore::ibv_destroy_srq>>;
using NativeCmChannel =
    std::unique_ptr<rdma_event_channel, EndBy<&RdmaCore::rdma_destroy_event_channel>>;

struct EndWindow {
  void operator()(ibv_mw* window) const { ibv_dealloc_mw(window); }
};
using NativeMw = std::unique_ptr<ibv_mw, EndWindow>;

}  // namespace iwarp::rnic
