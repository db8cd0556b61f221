#pragma once

#include <cstddef>
#include <cstdint>

#include "iwarp/base/bytes.hpp"
#include "iwarp/mpa/modes.hpp"
#include "support/vectors.hpp"

namespace iwarp::mpa::test {

using iwarp::test::Bytes;

/// CRC32c one bit at a time: the polynomial's definition, sharing nothing with the library.
std::uint32_t bitwise_crc32c(ConstBytes bytes);

/// Frames octet by octet, straight from RFC 5044 §4: the oracle of Framer.
class NaiveFramer {
 public:
  NaiveFramer(Crc crc, Markers markers) : crc_(crc), markers_(markers) {}

  /// Appends the FPDU of `ulpdu` to the stream.
  void frame(ConstBytes ulpdu);

  /// Everything that was framed.
  [[nodiscard]] const Bytes& stream() const { return stream_; }

  // Departures, for the tests of a receiver.
  std::uint16_t marker_reserved = 0;  ///< RESERVED of each Marker.
  std::uint16_t fpduptr_flip = 0;     ///< XORed into each FPDUPTR.
  std::byte pad_octet{0};             ///< The octets of the PAD.
  std::uint32_t unchecked_crc = 0;    ///< The CRC field when the CRC is off.

 private:
  void put(std::byte octet);
  void put_marker_if_due();

  Crc crc_;
  Markers markers_;
  Bytes stream_;
  std::size_t fpdu_begin_ = 0;  // of what the CRC covers
  std::size_t length_at_ = 0;   // of ULPDU_Length
  bool between_fpdus_ = true;
};

}  // namespace iwarp::mpa::test
