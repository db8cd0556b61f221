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
  /// Copies `from` to `to`, which do not overlap, and feeds the octets that `to` has now. Another
  /// thread may write to `from` meanwhile: each octet is read once, so the CRC is that of the copy.
  void copy(std::byte* to, ConstBytes from);
  /// The CRC of all that was fed so far.
  [[nodiscard]] std::uint32_t value() const { return ~state_; }

  /// What is between two updates, to go on elsewhere.
  [[nodiscard]] std::uint32_t state() const { return state_; }
  /// A CRC that goes on from there.
  static Crc32c from_state(std::uint32_t state) {
    Crc32c crc;
    crc.state_ = state;
    return crc;
  }

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
