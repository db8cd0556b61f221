#pragma once

namespace iwarp::tcp_offload {

/// One thing a device can take off the host.
enum class Offload : unsigned {
  kCrc = 1U << 0U,           ///< It computes and checks the CRC of each FPDU.
  kMarkers = 1U << 1U,       ///< It inserts and removes MPA markers.
  kSegmentation = 1U << 2U,  ///< It cuts DDP messages into segments and frames them.
  kPlacement = 1U << 3U,     ///< It places tagged and untagged payload into registered memory.
  kFull = 1U << 4U,          ///< It runs the whole protocol, RDMAP included.
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

}  // namespace iwarp::tcp_offload
