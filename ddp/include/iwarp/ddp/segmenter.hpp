#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace iwarp::ddp {

/// How many of `remaining` octets the next segment carries if its header takes `header_size` of a
/// MULPDU (RFC 5041 §5.2). Precondition: mulpdu > header_size; MPA's is never below 128.
constexpr std::uint32_t segment_payload(std::size_t mulpdu, std::size_t header_size,
                                        std::uint64_t remaining) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(remaining, static_cast<std::uint64_t>(mulpdu - header_size)));
}

}  // namespace iwarp::ddp
