#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/context.hpp"
#include "core/uses.hpp"
#include "iwarp/verbs/provider.hpp"

/// Protection domains, memory regions and memory windows of the C interface.
namespace iwarp::compat {

/// A protection domain, or a parent domain: another view of one, which must not go before it.
struct Pd {
  ibv_pd shown{};
  ContextUse context;
  std::shared_ptr<verbs::provider::Pd> core;
  Uses uses;
  bool parent = false;
  Use inner, thread_domain;  ///< Of a parent domain.
};

struct Mr {
  ibv_mr shown{};
  std::shared_ptr<verbs::provider::Mr> core;
  unsigned access = 0;
  std::optional<std::uint64_t> base;  ///< The Tagged Offset of its first octet, if not its address.
  Use pd;
};

struct Mw {
  ibv_mw shown{};
  std::shared_ptr<verbs::provider::Mw> core;
  Use pd;
};

inline Pd& pd_of(ibv_pd* shown) { return *reinterpret_cast<Pd*>(shown); }

/// The access rights that IBV_ACCESS_… flags ask for; hints are left out. None if a flag is not
/// known.
std::optional<verbs::Access> access_of(unsigned flags);

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* parts,
              std::uint32_t count);
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int dealloc_mw(ibv_mw* mw);

}  // namespace iwarp::compat
