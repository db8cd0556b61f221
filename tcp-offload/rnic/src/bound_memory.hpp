#pragma once

#include <map>
#include <mutex>

#include "iwarp/verbs/types.hpp"
#include "rdma_core.hpp"

namespace iwarp::rnic {

/// The adapter's own objects behind a request to bind a window.
struct BindTargets {
  ibv_mw* window = nullptr;
  ibv_mr* region = nullptr;
};

/// The adapter's objects behind the keys that a request to bind names. Any thread.
class BoundMemory {
 public:
  void add(ibv_mr* region);
  void remove(ibv_mr* region);
  void add(ibv_mw* window);
  void remove(ibv_mw* window);
  /// Null where a key names none.
  [[nodiscard]] BindTargets targets_of(const verbs::BindWr& bind) const;

 private:
  static std::uint32_t index_of(std::uint32_t key) { return key >> 8U; }

  mutable std::mutex mutex_;
  std::map<std::uint32_t, ibv_mr*> regions_;  // by lkey
  std::map<std::uint32_t, ibv_mw*> windows_;  // by all of the key but its owner's octet
};

}  // namespace iwarp::rnic
