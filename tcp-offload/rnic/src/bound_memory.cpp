#include "bound_memory.hpp"

namespace iwarp::rnic {

void BoundMemory::add(ibv_mr* region) {
  const std::lock_guard lock(mutex_);
  regions_[region->lkey] = region;
}

void BoundMemory::remove(ibv_mr* region) {
  const std::lock_guard lock(mutex_);
  regions_.erase(region->lkey);
}

void BoundMemory::add(ibv_mw* window) {
  const std::lock_guard lock(mutex_);
  windows_[index_of(window->rkey)] = window;
}

void BoundMemory::remove(ibv_mw* window) {
  const std::lock_guard lock(mutex_);
  windows_.erase(index_of(window->rkey));
}

BindTargets BoundMemory::targets_of(const verbs::BindWr& bind) const {
  const std::lock_guard lock(mutex_);
  const auto window = windows_.find(index_of(bind.window.value()));
  const auto region = regions_.find(bind.region.value());
  return {window == windows_.end() ? nullptr : window->second,
          region == regions_.end() ? nullptr : region->second};
}

}  // namespace iwarp::rnic
