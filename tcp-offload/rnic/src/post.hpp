#pragma once

#include <optional>
#include <span>

#include "iwarp/verbs/post_error.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::rnic {

/// What an adapter can be asked for in a request.
struct PostLimits {
  std::uint32_t max_send_sge = 0, max_recv_sge = 0, max_inline = 0;
  bool windows = false;
  /// The adapter has to tell of longer Sends and Writes, as it sends others out of the program's
  /// memory even when it has told of what was posted behind them. Octets.
  std::uint32_t max_silent = UINT32_MAX;
};

/// Why a request is refused before the adapter sees it, if it is. The index is the caller's to fill
/// in.
std::optional<verbs::PostError> refusal_of(const verbs::SendWr& request, const PostLimits& limits);
std::optional<verbs::PostError> refusal_of(const verbs::RecvWr& request, const PostLimits& limits);

/// Whether the adapter has to tell of a request, whether or not the program wants to hear of it.
bool wants_telling(const verbs::SendWr& request, const PostLimits& limits);

/// Which requests of a list the adapter gets.
struct Admitted {
  std::size_t count = 0;                  ///< From the front.
  std::optional<verbs::PostError> why{};  ///< Why not all.
};

/// Those before the first that is refused.
template <typename Request>
Admitted admitted(std::span<const Request> requests, const PostLimits& limits) {
  Admitted result;
  for (const Request& each : requests) {
    result.why = refusal_of(each, limits);
    if (result.why) {
      result.why->index = result.count;
      break;
    }
    ++result.count;
  }
  return result;
}

}  // namespace iwarp::rnic
