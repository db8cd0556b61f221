#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/crc32c.hpp"

namespace iwarp::tcp_offload::sim {

/// A Marker, or the CRC field, octet by octet as it is on the wire.
using FieldOctets = std::array<std::byte, 4>;

/// RFC 5044 §4.2: two octets are reserved, then comes FPDUPTR.
inline FieldOctets marker_octets_of(std::uint16_t pointer) {
  FieldOctets octets{};
  store_be(octets.data() + 2, pointer);
  return octets;
}

/// Which bits of a Marker count: not those that are reserved, nor the last two of FPDUPTR.
inline constexpr FieldOctets kMarkerBits = {std::byte{0}, std::byte{0}, std::byte{0xFF},
                                            std::byte{0xFC}};

/// RFC 5044 §4.4: the least significant octet comes first.
inline FieldOctets crc_octets_of(const Crc32c& crc) {
  FieldOctets octets;
  store_le(octets.data(), crc.value());
  return octets;
}

}  // namespace iwarp::tcp_offload::sim
