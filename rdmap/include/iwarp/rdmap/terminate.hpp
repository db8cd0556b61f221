#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "iwarp/base/bytes.hpp"
#include "iwarp/ddp/header.hpp"
#include "iwarp/rdmap/error.hpp"
#include "iwarp/rdmap/read_request.hpp"

namespace iwarp::rdmap {

/// A Terminate Message (RFC 5040 §4.8): the cause, and as far as they apply the length and header
/// of the DDP Segment and the Read Request Header that it is about.
struct Terminate {
  static constexpr std::size_t kControlSize = 4;  ///< Octets of the control word.
  /// Octets of the longest.
  static constexpr std::size_t kMaxSize =
      kControlSize + 2 + ddp::kUntaggedHeaderSize + ReadRequest::kSize;

  Cause cause;                                  ///< Why.
  std::optional<std::uint16_t> segment_length;  ///< Octets of the DDP Segment it is about.
  /// The first `ddp_header_size` octets hold.
  std::array<std::byte, ddp::kUntaggedHeaderSize> ddp_header{};
  std::size_t ddp_header_size = 0;          ///< 0, 14 or 18.
  std::optional<ReadRequest> read_request;  ///< The Read Request it is about.

  /// Writes at most kMaxSize octets; returns how many.
  std::size_t encode(std::byte* at) const;
  /// Nothing if the message is shorter than what its header control bits announce.
  static std::optional<Terminate> parse(ConstBytes bytes);
  /// The cause alone, whatever follows; nothing if the message is shorter than its control word.
  static std::optional<Cause> parse_cause(ConstBytes bytes);
};

/// The Terminate for an error found in a received segment, with the headers that Figure 10 asks
/// for. `ulpdu` is the whole segment as it came.
Terminate terminate_for(const Cause& cause, ConstBytes ulpdu);

}  // namespace iwarp::rdmap
