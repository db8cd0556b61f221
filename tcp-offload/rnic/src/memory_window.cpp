#include <cerrno>

#include "memory.hpp"

namespace iwarp::rnic {

verbs::Outcome<std::shared_ptr<MemoryWindow>> MemoryWindow::make(
    const std::shared_ptr<ProtectionDomain>& pd, verbs::WindowType type) {
  const Adapter& adapter = pd->adapter();
  if (adapter.limits.max_mw <= 0 || type != verbs::WindowType::k2) {
    return verbs::fail(std::errc::not_supported, adapter.name + " has no memory windows of type " +
                                                     (type == verbs::WindowType::k2 ? "2" : "1"));
  }
  ibv_mw* const mw = ibv_alloc_mw(pd->native(), IBV_MW_TYPE_2);
  if (mw != nullptr) return std::shared_ptr<MemoryWindow>(new MemoryWindow(pd, mw));
  return failure(adapter.error("it has no memory window left", errno));
}

MemoryWindow::MemoryWindow(std::shared_ptr<ProtectionDomain> pd, ibv_mw* mw)
    : pd_(std::move(pd)), mw_(mw) {
  pd_->bound()->add(mw_);
}

MemoryWindow::~MemoryWindow() {
  if (origin_.inherited()) return;
  pd_->bound()->remove(mw_);
  ibv_dealloc_mw(mw_);
}

}  // namespace iwarp::rnic
