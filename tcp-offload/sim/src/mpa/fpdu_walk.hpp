#pragma once

#include <cstddef>
#include <cstdint>

#include "iwarp/base/bytes.hpp"

namespace iwarp::tcp_offload::sim {

/// A part of an FPDU as it is on the wire (RFC 5044 §4.1, §4.2).
enum class FpduPart { kMarker, kLength, kBody, kCrc };

/// Octets of a part that stand one after the other.
struct FpduRun {
  FpduPart part;
  std::size_t left;  ///< So many of them are still to come; at least 1.
};

/// A position in one direction of a stream of FPDUs, from the first octet of Full Operation on. It
/// is moved over the octets one by one or in runs, and says what stands where. A copy is a
/// snapshot. This is on purpose not the framing of the `mpa` layer: the two check each other.
class FpduWalk {
 public:
  explicit FpduWalk(bool markers) : markers_(markers) {}

  /// What the next octets are.
  [[nodiscard]] FpduRun here() const;
  /// Goes over `octets`, which stand here. Precondition: not more than are left of here().
  void pass(ConstBytes octets);

  /// Whether no octet of an FPDU has been passed but, at most, the Marker in front of it.
  [[nodiscard]] bool between_fpdus() const {
    return field_ == FpduPart::kLength && left_ == kLengthSize;
  }
  /// What FPDUPTR of the Marker that stands here has to be (RFC 5044 §4.3). Precondition:
  /// here().part is kMarker.
  [[nodiscard]] std::uint16_t marker_pointer() const;

 private:
  static constexpr std::size_t kLengthSize = 2;
  void next_field();

  bool markers_;
  std::uint64_t passed_ = 0;
  FpduPart field_ = FpduPart::kLength;  // that a Marker may interrupt
  std::size_t left_ = kLengthSize;      // of the field
  std::size_t length_ = 0;              // ULPDU_Length, as far as it has been passed
  std::size_t since_start_ = 0;         // octets since ULPDU_Length, Markers included
};

}  // namespace iwarp::tcp_offload::sim
