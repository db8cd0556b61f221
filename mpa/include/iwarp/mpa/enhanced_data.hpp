#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/rtr.hpp"

namespace iwarp::mpa {

/// The largest IRD or ORD that can be stated (RFC 6581 §9.1): 14 bits, without the all-ones value.
inline constexpr std::uint16_t kMaxReadDepth = 0x3FFE;

/// An IRD or ORD as it goes over the wire (RFC 6581 §9.1): a number of RDMA Reads, or "not stated",
/// which leaves the matter to the ULP.
class ReadDepth {
 public:
  /// Not stated.
  constexpr ReadDepth() = default;
  /// Precondition: depth <= kMaxReadDepth.
  constexpr explicit ReadDepth(std::uint16_t depth) : value_(depth) {}

  /// The all-ones value.
  static constexpr ReadDepth not_stated() { return {}; }
  /// From the low 14 bits of a wire word.
  static constexpr ReadDepth from_wire(std::uint16_t word) { return ReadDepth(word & kAllOnes); }

  /// Whether it is a number.
  [[nodiscard]] constexpr bool is_stated() const { return value_ != kAllOnes; }
  /// The number of RDMA Reads. Precondition: is_stated().
  [[nodiscard]] constexpr std::uint16_t value() const { return value_; }
  /// The low 14 bits of a wire word.
  [[nodiscard]] constexpr std::uint16_t to_wire() const { return value_; }

  constexpr bool operator==(const ReadDepth&) const = default;

 private:
  static constexpr std::uint16_t kAllOnes = 0x3FFF;
  std::uint16_t value_ = kAllOnes;
};

using iwarp::Rtr;

/// A set of RTR indications.
class RtrSet {
 public:
  /// None.
  constexpr RtrSet() = default;
  /// Those that are listed.
  constexpr RtrSet(std::initializer_list<Rtr> kinds) {
    for (Rtr kind : kinds) insert(kind);
  }
  /// Send, Write and Read.
  static constexpr RtrSet all() { return {Rtr::kSend, Rtr::kWrite, Rtr::kRead}; }

  /// Adds one; kNone adds nothing.
  constexpr void insert(Rtr kind) { bits_ = static_cast<std::uint8_t>(bits_ | bit(kind)); }
  /// Whether it is in the set; kNone never is.
  [[nodiscard]] constexpr bool contains(Rtr kind) const { return (bits_ & bit(kind)) != 0; }
  /// Whether none is.
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  /// What is in both sets.
  friend constexpr RtrSet operator&(RtrSet a, RtrSet b) {
    a.bits_ = static_cast<std::uint8_t>(a.bits_ & b.bits_);
    return a;
  }
  constexpr bool operator==(const RtrSet&) const = default;

 private:
  static constexpr std::uint8_t bit(Rtr kind) { return static_cast<std::uint8_t>(kind); }
  std::uint8_t bits_ = 0;
};

/// Control flag A of RFC 6581 §9.2.
enum class ConnectionModel {
  kClientServer,  ///< The initiator's ULP sends first.
  kPeerToPeer,    ///< The initiator sends an RTR indication; then either ULP may send.
};

/// Octets of the enhanced connection data at the start of the Private Data (RFC 6581 §9).
inline constexpr std::size_t kEnhancedDataSize = 4;

/// The enhanced connection data: IRD and ORD of the end that sends it, and the control flags.
struct EnhancedData {
  ConnectionModel model = ConnectionModel::kClientServer;  ///< Flag A.
  RtrSet rtr;     ///< Flags B, C and D; always empty in the client-server model.
  ReadDepth ird;  ///< The sender's IRD.
  ReadDepth ord;  ///< The sender's ORD.

  /// Any four octets are valid. Without A the flags B, C and D are ignored (RFC 6581 §9.2).
  static EnhancedData parse(std::span<const std::byte, kEnhancedDataSize> bytes);
  /// Without A the flags B, C and D are sent as zero.
  [[nodiscard]] std::array<std::byte, kEnhancedDataSize> encode() const;

  constexpr bool operator==(const EnhancedData&) const = default;
};

}  // namespace iwarp::mpa
