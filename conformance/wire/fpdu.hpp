#pragma once

#include <optional>

#include "wire/octets.hpp"

namespace iwarp::conform {

/// Octets of an FPDU's parts, and how far Markers are apart (RFC 5044 §4.1, §4.3).
inline constexpr std::size_t kLengthSize = 2, kCrcSize = 4, kMarkerSize = 4, kMarkerPeriod = 512;

/// Octets of pad behind a ULPDU of this size.
constexpr std::size_t pad_size(std::size_t ulpdu) { return (4 - (kLengthSize + ulpdu) % 4) % 4; }
/// What the FPDUPTR of a Marker says: how far behind ULPDU_Length the Marker lies, 0 if it stands
/// right in front of it (RFC 5044 §4.3). Both arguments are offsets from the same octet.
constexpr std::size_t fpduptr_of(std::size_t marker, std::size_t length) {
  return marker < length ? 0 : marker - length;
}
/// The CRC that stands in the first four octets, least significant octet first (RFC 5044 §4.4).
std::uint32_t crc_in(OctetView octets);

/// How one direction of a stream is framed.
struct Framing {
  bool crc = true;
  bool markers = false;
};

/// Deliberate faults of one FPDU.
struct FpduFault {
  std::uint32_t crc_xor = 0;               ///< Spoils the CRC.
  int pad_delta = 0;                       ///< Octets of pad too many or too few.
  std::uint8_t pad_value = 0;              ///< What the pad consists of.
  std::optional<std::uint16_t> length{};   ///< ULPDU_Length, if not the true one.
  std::optional<std::uint16_t> fpduptr{};  ///< What every Marker in it says.
  std::uint16_t marker_low_bits = 0;       ///< Set in the FPDUPTR of every Marker in it.
  std::uint16_t marker_reserved = 0;
  int marker_shift = 0;  ///< Puts the Markers so many octets later than they belong.
};

/// Makes FPDUs of ULPDUs (RFC 5044 §4.1) and puts Markers where the position in the stream asks for
/// them (§4.3): the first 4 octets of Full Operation Phase, then every 512 octets.
class FpduWriter {
 public:
  explicit FpduWriter(Framing framing = {}) : framing_(framing) {}
  Octets frame(OctetView ulpdu, const FpduFault& fault = {});
  /// Octets of this direction since Full Operation Phase began.
  std::uint64_t position() const { return position_; }

 private:
  Framing framing_;
  std::uint64_t position_ = 0;
};

/// What arrived, and what is wrong with its framing.
struct Fpdu {
  std::uint64_t position = 0;  ///< Where it starts in the stream, a Marker in front of it included.
  Octets wire;                 ///< As it came, Markers and all.
  Octets ulpdu;
  Octets pad;
  std::uint32_t crc = 0;  ///< As it came; in the order of RFC 5044 §4.4.
  struct Marker {
    std::size_t offset = 0;  ///< In `wire`.
    std::uint16_t reserved = 0, fpduptr = 0;
  };
  std::vector<Marker> markers;
  std::vector<std::string> faults;  ///< Sentences; empty if it obeys RFC 5044.
};

/// Cuts a stream into FPDUs. Goes on after a fault, as far as the lengths can be believed.
class FpduReader {
 public:
  /// `position`: octets of this direction that were read before.
  explicit FpduReader(Framing framing = {}, std::uint64_t position = 0)
      : framing_(framing), position_(position) {}
  void add(OctetView octets) { buffer_.insert(buffer_.end(), octets.begin(), octets.end()); }
  std::optional<Fpdu> next();
  /// Octets that are not a whole FPDU yet.
  std::size_t pending() const { return buffer_.size(); }

 private:
  Framing framing_;
  std::uint64_t position_ = 0;
  Octets buffer_;
};

}  // namespace iwarp::conform
