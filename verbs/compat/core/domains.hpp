#pragma once

#include <infiniband/verbs.h>

#include "core/context.hpp"
#include "core/uses.hpp"

/// Thread domains and parent domains of the C interface.
namespace iwarp::compat {

/// Says that one thread at a time uses what is made in it. The stack has no locks that this would
/// spare: what it is good for here is that programs that make one find it.
struct Td {
  ibv_td shown{};
  ContextUse context;
  Uses uses;
};

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attributes);
int dealloc_td(ibv_td* td);
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes);

}  // namespace iwarp::compat
