#pragma once

#include <algorithm>
#include <cstddef>

#include "iwarp/mpa/fpdu.hpp"

namespace iwarp::mpa {

/// The range of the MULPDU (RFC 5044 §3), in octets.
inline constexpr std::size_t kMinMulpdu = 128;
inline constexpr std::size_t kMaxMulpdu = 64768;  ///< The upper end.

/// The largest ULPDU, in octets, whose FPDU fits a TCP segment of `emss` octets at any position of
/// the stream (RFC 5044 §4.5), kept within 128 to 64768. Below an EMSS of about 140 octets the
/// result no longer fits, as §4.5 accepts.
constexpr std::size_t mulpdu(std::size_t emss, Markers markers) {
  const std::size_t marker_count =
      markers == Markers::kOn ? (emss + kMarkerInterval - 1) / kMarkerInterval : 0;
  const std::size_t overhead = kUlpduLengthSize + kCrcSize + marker_count * kMarkerSize + emss % 4;
  return std::clamp(emss - std::min(emss, overhead), kMinMulpdu, kMaxMulpdu);
}

}  // namespace iwarp::mpa
