#include "core/domains.hpp"

#include "core/errors.hpp"
#include "core/memory.hpp"

namespace iwarp::compat {
namespace {

Td& td_of(ibv_td* shown) { return *reinterpret_cast<Td*>(shown); }

// The allocators are not kept: they are for memory that an adapter reads, and the stack's queues
// are no such memory.
ibv_pd* make_parent(ibv_context* context, const ibv_parent_domain_init_attr& attributes) {
  Pd& inner = pd_of(attributes.pd);
  auto pd = std::make_unique<Pd>();
  pd->context = ContextUse(context);
  pd->core = inner.core;
  pd->parent = true;
  pd->inner = Use(inner.uses);
  if (attributes.td != nullptr) pd->thread_domain = Use(td_of(attributes.td).uses);
  pd->shown.context = context;
  pd->shown.handle = attributes.pd->handle;
  return &pd.release()->shown;
}

}  // namespace

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attributes) {
  if (refused(context)) return fail_null(ENODEV);
  if (attributes->comp_mask != 0) return fail_null(EINVAL);
  return guarded(
      [&]() -> ibv_td* {
        auto td = std::make_unique<Td>();
        td->context = ContextUse(context);
        td->shown.context = context;
        return &td.release()->shown;
      },
      [](int error) -> ibv_td* { return fail_null(error); });
}

int dealloc_td(ibv_td* td) {
  if (inherited(td->context)) return 0;
  if (!td_of(td).uses.close()) return EBUSY;
  delete &td_of(td);
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes) {
  constexpr std::uint32_t kKnown =
      IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  if (refused(context)) return fail_null(ENODEV);
  if (attributes->pd == nullptr || (attributes->comp_mask & ~kKnown) != 0) return fail_null(EINVAL);
  return guarded([&] { return make_parent(context, *attributes); },
                 [](int error) -> ibv_pd* { return fail_null(error); });
}

}  // namespace iwarp::compat
