#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <optional>

#include "core/uses.hpp"
#include "events/async.hpp"
#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

/// A shared receive queue of the C interface.
struct Srq {
  ibv_srq shown{};
  std::shared_ptr<verbs::provider::Srq> core;
  Uses uses;
  Use pd;
  std::optional<AsyncRoute> route;
  ibv_srq_attr attributes{};  ///< Of its making: the sizes.
};

inline Srq& srq_of(ibv_srq* shown) { return *reinterpret_cast<Srq*>(shown); }

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad);
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attributes);
int srq_number(ibv_srq* srq, std::uint32_t* number);

}  // namespace iwarp::compat
