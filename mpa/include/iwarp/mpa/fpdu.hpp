#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "iwarp/mpa/modes.hpp"

namespace iwarp::mpa {

// The FPDU of RFC 5044 §4.1: ULPDU_Length, ULPDU, PAD, CRC. Its size is a multiple of four, so that
// a Marker, which stands at a multiple of 512, cuts neither ULPDU_Length nor the CRC in two.

/// Octets of the ULPDU_Length field.
inline constexpr std::size_t kUlpduLengthSize = 2;
/// Octets of the CRC field.
inline constexpr std::size_t kCrcSize = 4;
/// The largest value of the ULPDU_Length field; a receiver takes all of them.
inline constexpr std::size_t kMaxUlpduLength = 65535;

// The Marker of RFC 5044 §4.2.

/// Octets of a Marker.
inline constexpr std::size_t kMarkerSize = 4;
/// Offset of FPDUPTR in a Marker; the two octets in front of it are reserved.
inline constexpr std::size_t kFpduPtrOffset = 2;
/// A Marker begins at each multiple of this many octets, counted from the first octet of Full
/// Operation and with the Markers themselves (RFC 5044 §4.3).
inline constexpr std::size_t kMarkerInterval = 512;
/// Octets of FPDUs between two Markers.
inline constexpr std::size_t kMarkerSpacing = kMarkerInterval - kMarkerSize;

/// Octets of an FPDU without Markers.
constexpr std::size_t unmarked_size(std::size_t ulpdu_length) {
  return ((kUlpduLengthSize + ulpdu_length + 3U) & ~std::size_t{3}) + kCrcSize;
}

/// Octets from `phase`, a stream position modulo 512, to the next Marker; 0 if one is due here.
constexpr std::size_t octets_to_marker(std::size_t phase) {
  return (kMarkerInterval - phase) % kMarkerInterval;
}

/// How many Markers belong to an FPDU of `unmarked` octets that begins `to_marker` octets in front
/// of one. A Marker right behind the CRC field belongs to the next FPDU (RFC 5044 §4.3).
constexpr std::size_t marker_count(std::size_t to_marker, std::size_t unmarked) {
  return unmarked <= to_marker ? 0 : 1 + (unmarked - to_marker - 1) / kMarkerSpacing;
}

/// The most Markers that an FPDU can contain, wherever it begins.
constexpr std::size_t max_marker_count(std::size_t ulpdu_length, Markers markers) {
  return markers == Markers::kOff ? 0 : marker_count(0, unmarked_size(ulpdu_length));
}

/// The largest FPDU on the wire: the longest ULPDU, with as many Markers as there can be.
inline constexpr std::size_t kMaxFpduWireSize =
    unmarked_size(kMaxUlpduLength) + max_marker_count(kMaxUlpduLength, Markers::kOn) * kMarkerSize;

}  // namespace iwarp::mpa
