#pragma once

#include <cstdint>

namespace iwarp::rnic {

/// What becomes of requests that a program posts.
enum class PostingPhase : std::uint8_t {
  kRefused,  ///< ENOTCONN.
  kTaken,    ///< The adapter gets them.
  kFlushed,  ///< The connection is over: they complete at once, without the adapter.
};

}  // namespace iwarp::rnic
