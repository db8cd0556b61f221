#pragma once

#include <cstdint>

namespace iwarp::rsocket {

/// How much one connection may have under way.
struct Sizes {
  std::uint32_t send_queue = 0;      ///< Work requests.
  std::uint32_t receive_queue = 0;   ///< Receives.
  std::uint32_t send_buffer = 0;     ///< Octets.
  std::uint32_t receive_buffer = 0;  ///< Octets.
};

}  // namespace iwarp::rsocket
