#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/gather_list.hpp"
#include "iwarp/base/guarded_access.hpp"
#include "iwarp/mpa/fpdu.hpp"
#include "iwarp/mpa/modes.hpp"

namespace iwarp::mpa {

/// What becomes of a payload that is framed. With Markers even a large payload is better copied: as
/// a reference it takes two iovecs, and a CRC in pieces, for every 508 octets.
enum class PayloadUse {
  kCopy,       ///< Copied into the arena; it may change meanwhile: the CRC is that of the copy.
  kReference,  ///< Sent from where it is; with a CRC it must not change until it has been sent.
};

/// Makes FPDUs out of ULPDUs (RFC 5044 §4) for one direction of one stream. All it remembers is
/// where in the stream the next FPDU begins. It is a small value: a copy is a snapshot, and
/// assigning the copy back undoes what was framed since. Not thread-safe.
class Framer {
 public:
  /// Begins at the first octet of Full Operation.
  Framer(Crc crc, Markers markers) : crc_(crc), markers_(markers) {}

  /// Octets of the FPDU, Markers included, that frame() would append now for a ULPDU of
  /// `ulpdu_length` octets.
  [[nodiscard]] std::size_t wire_size(std::size_t ulpdu_length) const {
    const std::size_t unmarked = unmarked_size(ulpdu_length);
    if (markers_ == Markers::kOff) return unmarked;
    return unmarked + marker_count(octets_to_marker(phase_), unmarked) * kMarkerSize;
  }

  /// Appends one FPDU, whose ULPDU is `header` followed by the pieces of `payload`. The header is
  /// always copied. Preconditions: the ULPDU has at most 65535 octets, and with Markers at most
  /// the 64768 that RFC 5044 §3 allows (above, FPDUPTR may lack bits); `out` has the room that
  /// arena_needed() and pieces_needed() tell. Never allocates. Returns where memory of the payload
  /// was missing, if any was: then neither `out` nor the framer has changed.
  MemoryFault frame(ConstBytes header, std::span<const ConstBytes> payload, PayloadUse use,
                    GatherList& out);

  /// Remembers an FPDU as if frame() had made it, for a ULPDU of `ulpdu_length` octets; returns its
  /// octets, Markers included.
  std::size_t pass(std::size_t ulpdu_length) {
    const std::size_t size = wire_size(ulpdu_length);
    if (markers_ == Markers::kOn) {
      phase_ = static_cast<std::uint16_t>((phase_ + size) % kMarkerInterval);
    }
    return size;
  }

  /// An upper bound of the arena octets that one frame() takes, at any position of the stream.
  /// `copied` counts the octets of the ULPDU that are copied: the header, and with
  /// PayloadUse::kCopy the payload.
  [[nodiscard]] static constexpr std::size_t arena_needed(std::size_t ulpdu_length,
                                                          std::size_t copied, Markers markers) {
    constexpr std::size_t kMaxPad = 3;
    return kUlpduLengthSize + copied + kMaxPad + kCrcSize +
           max_marker_count(ulpdu_length, markers) * kMarkerSize;
  }

  /// An upper bound of the iovecs that one frame() takes, at any position of the stream, for a
  /// payload of `payload_pieces` pieces that are referenced. Copying takes a single one.
  [[nodiscard]] static constexpr std::size_t pieces_needed(std::size_t payload_pieces,
                                                           std::size_t ulpdu_length,
                                                           Markers markers) {
    return 2 + payload_pieces + 2 * max_marker_count(ulpdu_length, markers);
  }

  /// As constructed.
  [[nodiscard]] Crc crc() const { return crc_; }
  /// As constructed.
  [[nodiscard]] Markers markers() const { return markers_; }

 private:
  MemoryFault frame_copied(ConstBytes header, std::span<const ConstBytes> payload,
                           std::size_t ulpdu_length, GatherList& out) const;
  MemoryFault frame_referenced(ConstBytes header, std::span<const ConstBytes> payload,
                               std::size_t ulpdu_length, GatherList& out) const;

  Crc crc_;
  Markers markers_;
  std::uint16_t phase_ = 0;  // stream position modulo 512; stays 0 without Markers
};

}  // namespace iwarp::mpa
