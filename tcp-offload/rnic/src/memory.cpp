#include "memory.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "iwarp/process/log.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Access;
using verbs::Outcome;

struct Right {
  Access ours;
  unsigned native;
};
constexpr std::array kRights{Right{Access::kLocalWrite, IBV_ACCESS_LOCAL_WRITE},
                             Right{Access::kRemoteWrite, IBV_ACCESS_REMOTE_WRITE},
                             Right{Access::kRemoteRead, IBV_ACCESS_REMOTE_READ},
                             Right{Access::kWindowBind, IBV_ACCESS_MW_BIND},
                             Right{Access::kZeroBased, IBV_ACCESS_ZERO_BASED}};

// Says what of the rights the adapter cannot grant; nothing if it can.
const char* lacking(const Adapter& adapter, Access access) {
  if (has(access, Access::kZeroBased)) return "regions whose offsets count from zero";
  if (has(access, Access::kOnDemand)) return "regions whose memory is looked at on demand";
  if (has(access, Access::kRemoteInvalidate)) return "regions that a peer may invalidate";
  if (has(access, Access::kRemoteAtomic)) return "atomic operations";
  if (has(access, Access::kWindowBind) && adapter.limits.max_mw <= 0) return "memory windows";
  return nullptr;
}

bool needs_local_write(Access access) {
  return has(access, Access::kRemoteWrite) || has(access, Access::kRemoteAtomic);
}

}  // namespace

unsigned native_access(Access access) {
  unsigned native = 0;
  for (const Right& each : kRights) {
    if (has(access, each.ours)) native |= each.native;
  }
  return native;
}

// ---- Protection domains ----

Outcome<std::shared_ptr<ProtectionDomain>> ProtectionDomain::make(std::shared_ptr<Host> host) {
  const Adapter& adapter = *host->adapter();
  NativePd pd(adapter.core.ibv_alloc_pd(adapter.context), {&adapter.core});
  if (!pd) return failure(adapter.error("it has no protection domain left", errno));
  return std::shared_ptr<ProtectionDomain>(new ProtectionDomain(std::move(host), std::move(pd)));
}

ProtectionDomain::~ProtectionDomain() {
  if (origin_.inherited()) static_cast<void>(pd_.release());
}

// ---- Regions ----

MemoryRegion::MemoryRegion(std::shared_ptr<ProtectionDomain> pd, NativeMr mr, bool bindable)
    : pd_(std::move(pd)), mr_(std::move(mr)), bindable_(bindable) {
  if (bindable_) pd_->bound()->add(mr_.get());
}

Outcome<std::shared_ptr<MemoryRegion>> MemoryRegion::make(
    const std::shared_ptr<ProtectionDomain>& pd, MutableBytes memory, Access access) {
  const Adapter& adapter = pd->adapter();
  if (needs_local_write(access) && !has(access, Access::kLocalWrite)) {
    return verbs::fail(std::errc::invalid_argument,
                       "memory region: a peer that may write needs local write as well");
  }
  if (const char* what = lacking(adapter, access)) {
    return verbs::fail(std::errc::not_supported, adapter.name + " has no " + what);
  }
  NativeMr mr((adapter.core.ibv_reg_mr)(pd->native(), memory.data(), memory.size(),
                                        static_cast<int>(native_access(access))),
              {&adapter.core});
  if (mr) {
    // Whether windows may be bound to it the adapter judges.
    const bool bindable = adapter.limits.max_mw > 0;
    return std::shared_ptr<MemoryRegion>(new MemoryRegion(pd, std::move(mr), bindable));
  }
  return failure(adapter.error(
      "a memory region of " + std::to_string(memory.size()) + " octets cannot be registered",
      errno));
}

// With a window bound to it an adapter may keep it.
MemoryRegion::~MemoryRegion() {
  ibv_mr* const mr = mr_.release();
  if (origin_.inherited()) return;
  if (bindable_) pd_->bound()->remove(mr);
  const int refused = pd_->adapter().core.ibv_dereg_mr(mr);
  if (refused == 0) return;
  process::log(process::LogLevel::kWarn,
               pd_->adapter().error("a memory region stays registered", refused).message);
}

}  // namespace iwarp::rnic
