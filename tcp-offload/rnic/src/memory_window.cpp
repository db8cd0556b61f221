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
  NativeMw mw(ibv_alloc_mw(pd->native(), IBV_MW_TYPE_2));
  if (mw) return std::shared_ptr<MemoryWindow>(new MemoryWindow(pd, std::move(mw)));
  return failure(adapter.error("it has no memory window left", errno));
}

MemoryWindow::MemoryWindow(std::shared_ptr<ProtectionDomain> pd, NativeMw mw)
    : pd_(std::move(pd)), mw_(std::move(mw)) {
  pd_->bound()->add(mw_.get());
}

MemoryWindow::~MemoryWindow() {
  if (origin_.inherited()) {
    static_cast<void>(mw_.release());
  } else {
    pd_->bound()->remove(mw_.get());
  }
}

}  // namespace iwarp::rnic
