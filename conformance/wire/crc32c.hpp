#pragma once

#include "wire/octets.hpp"

namespace iwarp::conform {

/// CRC32C (polynomial 0x1EDC6F41, reflected, start and end inverted), bit by bit from a table that
/// is computed here. RFC 5044 §4.4 puts the result on the wire least significant octet first.
class Crc32c {
 public:
  void add(OctetView octets);
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

std::uint32_t crc32c(OctetView octets);

}  // namespace iwarp::conform
