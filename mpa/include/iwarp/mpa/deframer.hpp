#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "iwarp/base/bytes.hpp"
#include "iwarp/mpa/error.hpp"
#include "iwarp/mpa/fpdu.hpp"
#include "iwarp/mpa/modes.hpp"

namespace iwarp::mpa {

/// A whole FPDU that passed its checks.
struct Fpdu {
  MutableBytes ulpdu;     ///< The ULPDU, contiguous, within the bytes given to Deframer::next().
  std::size_t wire_size;  ///< Octets of the stream that the FPDU takes; the next one begins there.
};

/// The FPDU is not whole yet.
struct NeedMore {
  /// With how many octets in all to call again: those of the whole FPDU if its length is known, or
  /// else those up to the end of ULPDU_Length. At most kMaxFpduWireSize, and always more than
  /// were given.
  std::size_t wire_size;
};

/// What Deframer::next() found.
using Deframed = std::variant<Fpdu, NeedMore, Error>;

/// Finds and verifies the FPDUs of one direction of one stream (RFC 5044 §6). All it remembers is
/// the position in the stream and, once there was one, the error. A copy is a snapshot. Not
/// thread-safe.
class Deframer {
 public:
  /// Begins at the first octet of Full Operation.
  Deframer(Crc crc, Markers markers) : crc_(crc), markers_(markers) {}

  /// Takes the next FPDU from `bytes`, which hold the stream from where the FPDU before ended. On
  /// an Fpdu the position advances by its wire_size; bytes behind that are not looked at. The CRC
  /// is verified first, then each Marker; thereupon the Markers are squeezed out in place. With
  /// NeedMore nothing was changed, and the same bytes are to come again with more behind.
  /// Errors: kCrcMismatch, kMarkerMismatch. Each later call returns the same error (RFC 5044 §8).
  [[nodiscard]] Deframed next(MutableBytes bytes);

  /// As constructed.
  [[nodiscard]] Crc crc() const { return crc_; }
  /// As constructed.
  [[nodiscard]] Markers markers() const { return markers_; }

 private:
  Deframed next_marked(MutableBytes bytes);
  Deframed fail(Error error);
  [[nodiscard]] bool crc_matches(ConstBytes fpdu) const;

  Crc crc_;
  Markers markers_;
  std::uint16_t phase_ = 0;  // stream position modulo 512; stays 0 without Markers
  std::optional<Error> error_;
};

}  // namespace iwarp::mpa
