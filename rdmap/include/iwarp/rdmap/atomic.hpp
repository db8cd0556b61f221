#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/guarded_access.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/base/strong_id.hpp"

namespace iwarp::rdmap {

/// Atomic Operation Codes (RFC 7306 §5.2.1, Figure 5).
enum class AtomicOpcode : std::uint8_t { kFetchAdd = 0, kCmpSwap = 2 };

/// What an Atomic Operation works with. kFetchAdd: `data` is added, `mask` marks the most
/// significant bit of each field (0: one field of 64 bits). kCmpSwap: where the bits of
/// `compare_mask` equal those of `compare`, the bits of `mask` are replaced by those of `data`.
struct AtomicOperands {
  std::uint64_t data = 0;          ///< What is added, or stored.
  std::uint64_t mask = 0;          ///< The fields of a sum, or the bits that are stored.
  std::uint64_t compare = 0;       ///< kCmpSwap: what is expected.
  std::uint64_t compare_mask = 0;  ///< kCmpSwap: the bits that are compared.
  bool operator==(const AtomicOperands&) const = default;
};

/// Octets of the memory that an Atomic Operation works on; its address is a multiple of this.
inline constexpr std::size_t kAtomicSize = 8;

/// The value that an operation leaves where `original` was (§5.1).
std::uint64_t apply(AtomicOpcode opcode, const AtomicOperands& operands, std::uint64_t original);

/// Performs an operation on the word at `at`, in host byte order, indivisibly towards every other
/// atomic access of this host (§5.3 asks for those of this device only). Returns the original
/// value; an error, and the word is as it was, if it cannot be read and written. Precondition: `at`
/// is aligned to kAtomicSize.
Result<std::uint64_t, MemoryFault> perform(AtomicOpcode opcode, const AtomicOperands& operands,
                                           std::byte* at);

/// Atomic Operation Request Header (§5.2.1, Figure 4).
struct AtomicRequest {
  static constexpr std::size_t kSize = 52;  ///< Octets on the wire.

  std::uint8_t opcode = 0;  ///< An AtomicOpcode, or what a peer made of it; four bits.
  std::uint32_t id = 0;     ///< Request Identifier.
  Stag stag;                ///< Of the buffer it works on.
  TaggedOffset to;          ///< Of the eight octets it works on.
  AtomicOperands operands;  ///< What it works with.

  /// The operation; nothing if it is none that Figure 5 knows.
  [[nodiscard]] std::optional<AtomicOpcode> operation() const;
  /// Writes kSize octets.
  void encode(std::byte* at) const;
  /// Reads exactly kSize octets; nothing if there are fewer or more.
  static std::optional<AtomicRequest> parse(ConstBytes bytes);
  bool operator==(const AtomicRequest&) const = default;
};

/// Atomic Operation Response Header (§5.2.2, Figure 6).
struct AtomicResponse {
  static constexpr std::size_t kSize = 12;  ///< Octets on the wire.

  std::uint32_t id = 0;        ///< Original Request Identifier.
  std::uint64_t original = 0;  ///< Original Remote Data Value.

  /// Writes kSize octets.
  void encode(std::byte* at) const;
  /// Reads exactly kSize octets; nothing if there are fewer or more.
  static std::optional<AtomicResponse> parse(ConstBytes bytes);
  bool operator==(const AtomicResponse&) const = default;
};

}  // namespace iwarp::rdmap
