#include "core/memory.hpp"

#include <algorithm>
#include <bit>

#include "core/errors.hpp"
#include "exports.hpp"
#include "work/post.hpp"

namespace iwarp::compat {
namespace {

using verbs::Access;

MutableBytes bytes_at(void* address, std::size_t length) {
  return {static_cast<std::byte*>(address), length};
}

// What IBV_ACCESS_ON_DEMAND with address 0 and SIZE_MAX octets means: all that this process has or
// will have. Address 0 belongs to no region; where addresses end, so far as no caller asks for
// higher ones, those of a stack tell.
MutableBytes address_space() {
  const int here = 0;
  return bytes_at(reinterpret_cast<void*>(1),
                  std::bit_ceil(reinterpret_cast<std::uintptr_t>(&here)) - 1U);
}

// A region of which remote writing is asked is written to here as well: the verbs demand both
// flags.
ibv_mr* register_region(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        unsigned flags) {
  if (refused(pd->context)) return fail_null(ENODEV);
  const auto access = access_of(flags);
  const bool wraps = length > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(address);
  if (!access || wraps) return fail_null(EINVAL);
  auto mr = std::make_unique<Mr>();
  mr->pd = Use(pd_of(pd).uses);
  const auto& core = pd_of(pd).core;
  auto& provider = *context_of(pd->context).provider;
  const bool usual =
      iova == reinterpret_cast<std::uintptr_t>(address) || has(*access, Access::kZeroBased);
  const bool everything =
      has(*access, Access::kOnDemand) && address == nullptr && iova == 0 && length == SIZE_MAX;
  const MutableBytes memory = everything ? address_space() : bytes_at(address, length);
  auto made = usual ? provider.register_memory(core, memory, *access)
                    : provider.register_memory_at(core, memory, iova, *access);
  if (!made) return fail_null(errno_of(made.error().code));
  mr->core = std::move(*made);
  mr->access = flags;
  if (!usual) mr->base = iova;
  mr->shown = {
      pd->context, pd, address, length, 0, mr->core->lkey().value(), mr->core->rkey().value()};
  return &mr.release()->shown;
}

ibv_mr* register_guarded(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned flags) {
  return guarded([&] { return register_region(pd, address, length, iova, flags); },
                 [](int error) -> ibv_mr* { return fail_null(error); });
}

int reregister(Mr& mr, int what, ibv_pd* pd, void* address, std::size_t length, int flags) {
  if (refused(mr.shown.context)) return ENODEV;
  if (what == 0) return EINVAL;
  const bool moves = (what & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  ibv_pd* const to = (what & IBV_REREG_MR_CHANGE_PD) != 0 ? pd : mr.shown.pd;
  const unsigned wanted =
      (what & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? static_cast<unsigned>(flags) : mr.access;
  const auto access = access_of(wanted);
  if (!access || to == nullptr) return EINVAL;
  void* const begin = moves ? address : mr.shown.addr;
  const std::size_t size = moves ? length : mr.shown.length;
  const auto base = moves ? std::nullopt : mr.base;
  Use use(pd_of(to).uses);
  const auto done = context_of(mr.shown.context)
                        .provider->reregister_memory(*mr.core, pd_of(to).core,
                                                     bytes_at(begin, size), *access, base);
  if (!done) return errno_of(done.error().code);
  mr.base = base;
  mr.pd = std::move(use);
  mr.access = wanted;
  mr.shown = {mr.shown.context,       to, begin, size, 0, mr.core->lkey().value(),
              mr.core->rkey().value()};
  return 0;
}

}  // namespace

// Relaxed ordering and the like are hints (IBV_ACCESS_OPTIONAL_RANGE); huge pages change nothing
// where the memory is not pinned.
std::optional<Access> access_of(unsigned flags) {
  flags &= ~(static_cast<unsigned>(IBV_ACCESS_OPTIONAL_RANGE) | IBV_ACCESS_HUGETLB);
  struct Pair {
    unsigned flag;
    Access access;
  };
  constexpr Pair kPairs[] = {{IBV_ACCESS_LOCAL_WRITE, Access::kLocalWrite},
                             {IBV_ACCESS_REMOTE_WRITE, Access::kRemoteWrite},
                             {IBV_ACCESS_REMOTE_READ, Access::kRemoteRead},
                             {IBV_ACCESS_REMOTE_ATOMIC, Access::kRemoteAtomic},
                             {IBV_ACCESS_MW_BIND, Access::kWindowBind},
                             {IBV_ACCESS_ZERO_BASED, Access::kZeroBased},
                             {IBV_ACCESS_ON_DEMAND, Access::kOnDemand}};
  Access access = Access::kNone;
  for (const Pair& pair : kPairs) {
    if ((flags & pair.flag) == 0) continue;
    access = access | pair.access;
    flags &= ~pair.flag;
  }
  if (flags != 0) return std::nullopt;
  return access;
}

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* parts,
              std::uint32_t count) {
  if (refused(pd->context)) return ENODEV;
  if ((flags & ~std::uint32_t{IBV_ADVISE_MR_FLAG_FLUSH}) != 0 || count == 0) return EINVAL;
  switch (advice) {
    case IBV_ADVISE_MR_ADVICE_PREFETCH:
    case IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE: break;
    case IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT: return 0;  // what is there is there for us as well
    default: return ENOTSUP;
  }
  return guarded_errno([&] {
    std::vector<verbs::Sge> list(count);
    std::transform(parts, parts + count, list.begin(), sge_of);
    const auto done = context_of(pd->context)
                          .provider->prefetch(pd_of(pd).core, list,
                                              advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    return done ? 0 : errno_of(done.error().code);
  });
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  return guarded(
      [&]() -> ibv_mw* {
        if (refused(pd->context)) return fail_null(ENODEV);
        if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) return fail_null(EINVAL);
        auto mw = std::make_unique<Mw>();
        mw->pd = Use(pd_of(pd).uses);
        auto made = context_of(pd->context)
                        .provider->alloc_window(pd_of(pd).core, type == IBV_MW_TYPE_1
                                                                    ? verbs::WindowType::k1
                                                                    : verbs::WindowType::k2);
        if (!made) return fail_null(errno_of(made.error().code));
        mw->core = std::move(*made);
        mw->shown = {pd->context, pd, mw->core->rkey().value(), 0, type};
        return &mw.release()->shown;
      },
      [](int error) -> ibv_mw* { return fail_null(error); });
}

int dealloc_mw(ibv_mw* mw) {
  if (!inherited(mw->context)) delete reinterpret_cast<Mw*>(mw);
  return 0;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return guarded(
      [context]() -> ibv_pd* {
        if (refused(context)) return fail_null(ENODEV);
        auto pd = std::make_unique<Pd>();
        pd->context = ContextUse(context);
        auto made = context_of(context).provider->alloc_pd();
        if (!made) return fail_null(errno_of(made.error().code));
        pd->core = std::move(*made);
        pd->shown.context = context;
        return &pd.release()->shown;
      },
      [](int error) -> ibv_pd* { return fail_null(error); });
}

int ibv_dealloc_pd(ibv_pd* pd) {
  if (inherited(pd->context)) return 0;
  if (!pd_of(pd).uses.close()) return EBUSY;
  delete &pd_of(pd);
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  return register_guarded(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                          static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        int access) {
  return register_guarded(pd, address, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access) {
  return register_guarded(pd, address, length, iova, access);
}

// There are no devices here whose memory could be behind a dma-buf.
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return fail_null(EOPNOTSUPP);
}

// What is wrong with the arguments is told apart from what the device says.
int ibv_rereg_mr(ibv_mr* mr, int what, ibv_pd* pd, void* address, std::size_t length, int access) {
  const bool moves_nowhere =
      (what & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 && (length == 0 || address == nullptr);
  const bool access_for_nothing = access != 0 && (what & IBV_REREG_MR_CHANGE_ACCESS) == 0;
  if ((what & ~int{IBV_REREG_MR_FLAGS_SUPPORTED}) != 0 || moves_nowhere || access_for_nothing) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  const int error = guarded_errno(
      [&] { return reregister(*reinterpret_cast<Mr*>(mr), what, pd, address, length, access); });
  if (error == 0) return 0;
  errno = error;
  return IBV_REREG_MR_ERR_CMD;
}

int ibv_dereg_mr(ibv_mr* mr) {
  if (inherited(mr->context)) return 0;
  auto* const region = reinterpret_cast<Mr*>(mr);
  if (region->core->has_windows()) return EBUSY;
  delete region;
  return 0;
}

// --- fork: nothing is pinned, so a child's copies do no harm ---

int ibv_fork_init() { return 0; }
ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
extern "C" {
int ibv_dontfork_range(void*, std::size_t) { return 0; }
int ibv_dofork_range(void*, std::size_t) { return 0; }
}

// --- objects of another process ---

ibv_mr* ibv_import_mr(ibv_pd*, std::uint32_t) { return fail_null(EOPNOTSUPP); }
void ibv_unimport_mr(ibv_mr*) {}
ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) { return fail_null(EOPNOTSUPP); }
void ibv_unimport_pd(ibv_pd*) {}
ibv_dm* ibv_import_dm(ibv_context*, std::uint32_t) { return fail_null(EOPNOTSUPP); }
void ibv_unimport_dm(ibv_dm*) {}
