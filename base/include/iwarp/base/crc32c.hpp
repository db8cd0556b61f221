#pragma once

#include <cstdint>

#include "iwarp/base/bytes.hpp"

namespace iwarp {

/// The CRC32c of RFC 5044 §4.4, fed in pieces. On the wire the value goes out least significant
/// byte first.
class Crc32c {
 public:
  /// Feeds the next octets.
  void update(ConstBytes bytes);
  /// The CRC of all that was fed so far.
  [[nodiscard]] std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xFFFFFFFFU;
};

/// The CRC32c of one contiguous range.
inline std::uint32_t crc32c(ConstBytes bytes) {
  Crc32c crc;
  crc.update(bytes);
  return crc.value();
}

}  // namespace iwarp
