#pragma once

#include <algorithm>
#include <cstdint>

namespace iwarp::tcp_offload {

/// One thing a stream device can take off the host. What takes more than these has no use for the
/// layers above it, and is a provider of its own instead (verbs/provider.hpp).
enum class Offload : unsigned {
  /// It computes and checks the CRC of each FPDU. What it sends it computes of the octets that
  /// leave, each time that they do: the program's memory, of which this host has no copy then, may
  /// change until it is released.
  kCrc = 1U << 0U,
  /// It inserts and removes MPA markers. Of no use without kCrc where there is a CRC.
  kMarkers = 1U << 1U,
};

/// The set of things a device takes off the host; the layers above do the rest.
class Offloads {
 public:
  constexpr Offloads() = default;  ///< None.
  /// Implicit: one is a set, too.
  constexpr Offloads(Offload one) : bits_(static_cast<unsigned>(one)) {}

  /// Whether it is in the set.
  [[nodiscard]] constexpr bool contains(Offload one) const {
    return (bits_ & static_cast<unsigned>(one)) != 0;
  }
  /// Whether none is.
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

  constexpr bool operator==(const Offloads&) const = default;

  /// The union of two sets.
  friend constexpr Offloads operator|(Offloads a, Offloads b) {
    Offloads both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }

 private:
  unsigned bits_ = 0;
};

/// The set of the two.
constexpr Offloads operator|(Offload a, Offload b) { return Offloads(a) | Offloads(b); }

/// What the FPDUs of a stream have, one way and the other (RFC 5044 §7.1.1): on the wire, as it was
/// negotiated, or between the device and this host. The CRC field is there in any case; without CRC
/// it holds anything. By default nothing: octets that are no FPDUs, too.
struct MpaTerms {
  bool crc = false;               ///< The CRC is generated and checked, both ways.
  bool markers_sent = false;      ///< There are Markers in what this host sends.
  bool markers_received = false;  ///< There are Markers in what it receives.

  constexpr bool operator==(const MpaTerms&) const = default;
};

/// What is left to this host of what was negotiated when the device takes its part: how the FPDUs
/// look between the two. The device does the difference. This is the one place that decides it;
/// the software reads from it what to do, and so does a device.
///
/// The CRC covers the Markers of its FPDU (RFC 5044 §4.3, §4.4): a sender puts the Markers in
/// before it takes the CRC, and a receiver checks the CRC before it takes them out. So a device can
/// have the CRC alone, of FPDUs that the host has put Markers into; the Markers alone it can have
/// only where there is no CRC, and where this host has the CRC it has the Markers, too.
[[nodiscard]] constexpr MpaTerms left_to_host(const MpaTerms& negotiated, Offloads taken) {
  const bool crc = negotiated.crc && !taken.contains(Offload::kCrc);
  const bool markers = crc || !taken.contains(Offload::kMarkers);
  return {crc, markers && negotiated.markers_sent, markers && negotiated.markers_received};
}

/// How many of the first `octets` that go one way on the wire from the hand-over on are those of
/// Markers, if there are Markers: four at each 512 (RFC 5044 §4.3).
[[nodiscard]] constexpr std::uint64_t marker_octets(std::uint64_t octets) {
  constexpr std::uint64_t kSize = 4, kInterval = 512;
  return octets / kInterval * kSize + std::min(octets % kInterval, kSize);
}

}  // namespace iwarp::tcp_offload
