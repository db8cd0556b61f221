#pragma once

#include <infiniband/verbs.h>

#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <optional>
#include <span>

#include "iwarp/verbs/provider.hpp"

/// Lists of work requests, from the C interface's form into the stack's.
namespace iwarp::compat {

constexpr std::size_t kMostSges = 128;

/// Scatter or gather lists of one batch.
class SgeRoom {
 public:
  /// The list in the stack's form, valid until clear(). None if there is no room for it.
  std::optional<std::span<const verbs::Sge>> put(const ibv_sge* list, int count);
  void clear() { sges_.clear(); }

 private:
  boost::container::static_vector<verbs::Sge, kMostSges> sges_;
};

/// Translates one send request, apart from its gather list. 0, or an errno. `bind` has room for
/// what a bind needs.
int translate(const ibv_send_wr& from, verbs::SendWr& to, verbs::BindWr& bind);

verbs::SendFlags flags_of(unsigned send_flags);
verbs::Sge sge_of(const ibv_sge& from);
/// 0, or EINVAL for rights that are not known.
int fill_bind(const ibv_mw_bind_info& from, std::uint32_t window, verbs::BindWr& to);
/// What a post function returns: ENOMEM for a full queue, EINVAL for what is malformed or comes in
/// the wrong state.
int errno_of_post(const verbs::PostError& error);

/// Posts to a queue pair or a shared receive queue: both have this function.
template <typename Queue>
int post_receives(Queue& queue, ibv_recv_wr* requests, ibv_recv_wr** bad);

}  // namespace iwarp::compat
