#pragma once

namespace iwarp::mpa {

/// Whether Markers stand in one direction of the stream (RFC 5044 §4.3). The receiving end of a
/// direction asks for them with the M bit of its start-up frame.
enum class Markers { kOff, kOn };

/// Whether the CRC field of an FPDU is generated and checked (RFC 5044 §4.4). It holds for both
/// directions; the field itself is always there.
enum class Crc { kOff, kOn };

/// What both ends have settled about the octets of a stream: the CRC is on if either end wants it,
/// and each end decides about the Markers it receives (RFC 5044 §7.1.1).
struct StreamModes {
  Crc crc = Crc::kOn;                  ///< In both directions.
  Markers markers_tx = Markers::kOff;  ///< In what this end sends.
  Markers markers_rx = Markers::kOff;  ///< In what this end receives.

  constexpr bool operator==(const StreamModes&) const = default;
};

}  // namespace iwarp::mpa
