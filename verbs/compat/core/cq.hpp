#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>

#include "core/context.hpp"
#include "core/uses.hpp"
#include "events/async.hpp"
#include "events/channel.hpp"
#include "iwarp/verbs/provider.hpp"

/// Completion queues of the C interface.
namespace iwarp::compat {

struct Cq {
  /// Both views of a queue that the interface has: the longer one begins like the shorter.
  union Shown {
    ibv_cq_ex extended;
    ibv_cq plain;
  } shown{};
  ContextUse context;
  std::shared_ptr<verbs::provider::Cq> core;
  Uses uses;
  Use channel, parent_domain;
  std::optional<AsyncRoute> route;

  std::optional<CqWatch> watch;    ///< In its channel, if it has one.
  std::uint32_t events_given = 0;  ///< To be acknowledged before the end; the channel counts.

  /// Held from a successful ibv_start_poll() to ibv_end_poll(), unless the program has promised
  /// that one thread at a time polls. ibv_poll_cq() takes from what ibv_start_poll() has not.
  std::mutex extended_poll;
  bool single_threaded = false;
  verbs::Completion current{};  ///< What ibv_start_poll() or ibv_next_poll() has come to.
};

inline Cq& cq_of(ibv_cq* shown) { return *reinterpret_cast<Cq*>(shown); }
inline Cq& cq_of(ibv_cq_ex* shown) { return *reinterpret_cast<Cq*>(shown); }

/// Makes a queue; null with errno set on failure.
/// The size of a queue: adapters, and siw, round what is asked for up to a power of two, and some
/// programs are one short. What exceeds `most` stays as it is, to be refused.
constexpr std::uint32_t rounded_up(std::uint32_t size, std::uint32_t most) {
  return size > most ? size : std::min(std::bit_ceil(size), size == 0 ? 0 : most);
}

Cq* make_cq(ibv_context* context, std::uint32_t depth, void* cq_context, ibv_comp_channel* channel,
            int vector);

int poll_cq(ibv_cq* cq, int count, ibv_wc* into);
int req_notify_cq(ibv_cq* cq, int solicited_only);
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes);

}  // namespace iwarp::compat
