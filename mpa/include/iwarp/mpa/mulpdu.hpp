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

/// The most octets of an FPDU, Markers included, whose ULPDU is as long as a MULPDU may be.
constexpr std::size_t largest_fpdu(Markers markers) {
  return unmarked_size(kMaxMulpdu) + max_marker_count(kMaxMulpdu, markers) * kMarkerSize;
}

/// The octets of the next ULPDU when FPDUs need not fit a segment, but have up to `max_fpdu` octets
/// and are to fill the `room` octets that are left of a packet to their end: the room is shared
/// among as few FPDUs as can be, alike but for the last. Where that one would have less than a
/// segment, it is `fitting`, mulpdu() of the segment. With Markers some octets may stay empty, as
/// in mulpdu(), which counts as many as there can be. Such ULPDUs are longer than the MULPDU, which
/// RFC 5044 §3 permits up to 64768 octets, against the SHOULDs of §3 and §5.1. Precondition:
/// `max_fpdu` is at least 4.
constexpr std::size_t filling_ulpdu(std::size_t room, std::size_t max_fpdu, std::size_t fitting,
                                    Markers markers) {
  const std::size_t most = std::min(max_fpdu, largest_fpdu(markers)) / 4 * 4;
  const std::size_t fpdus = std::max<std::size_t>(room / most + (room % most == 0 ? 0 : 1), 1);
  const std::size_t share = fpdus == 1 ? room : (room + fpdus * 4 - 1) / (fpdus * 4) * 4;
  const std::size_t last = room - std::min(room, (fpdus - 1) * share);
  return mulpdu(last, markers) < fitting ? fitting : mulpdu(share, markers);
}

}  // namespace iwarp::mpa
