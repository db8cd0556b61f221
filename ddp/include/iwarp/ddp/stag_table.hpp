#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/base/strong_id.hpp"
#include "iwarp/ddp/error.hpp"

namespace iwarp::ddp {

using ProtectionDomainId = StrongId<struct ProtectionDomainIdTag, std::uint32_t>;

/// What a Tagged Buffer allows. Local read is always allowed.
enum class Rights : std::uint8_t {
  kNone = 0,
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
  kRemoteInvalidate = 16,
};
constexpr Rights operator|(Rights a, Rights b) {
  return static_cast<Rights>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool includes(Rights set, Rights wanted) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(wanted)) ==
         static_cast<unsigned>(wanted);
}

/// A Tagged Buffer: memory with a range of Tagged Offsets, rights and a protection domain.
struct TaggedBuffer {
  std::byte* memory = nullptr;
  TaggedOffset base;         ///< The Tagged Offset of the first octet.
  std::uint64_t length = 0;  ///< Octets.
  ProtectionDomainId pd;
  Rights rights = Rights::kNone;
};

/// The buffers that STags name. Looking up and pinning is free of locks and may be done by any
/// number of threads at once, also while STags begin and end. Any thread may end an STag; enabling
/// is done by one thread at a time (the owner sees to that).
///
/// An STag is a 24-bit index and an 8-bit key. The index is a slot number and a small generation,
/// scrambled by a keyed permutation, so that a peer cannot guess a neighbour's (RFC 5042 §6.2) and
/// an index comes back late.
class StagTable {
  struct Slot;

 public:
  static constexpr std::uint32_t kMaxSlots = 1U << 20U;

  /// Holds a buffer in place while it is read or written; released by destruction.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept
        : slot_(std::exchange(other.slot_, nullptr)), memory_(other.memory_) {}
    Pin& operator=(Pin&& other) noexcept {
      std::swap(slot_, other.slot_);
      std::swap(memory_, other.memory_);
      return *this;
    }
    ~Pin();
    /// The first octet of the range that was asked for.
    [[nodiscard]] std::byte* memory() const { return memory_; }

   private:
    friend class StagTable;
    Pin(Slot* slot, std::byte* memory) : slot_(slot), memory_(memory) {}
    Slot* slot_ = nullptr;
    std::byte* memory_ = nullptr;
  };

  /// `secret` keys the permutation: random in programs, fixed in tests.
  explicit StagTable(std::uint64_t secret);
  ~StagTable();
  StagTable(const StagTable&) = delete;
  StagTable& operator=(const StagTable&) = delete;

  /// Makes a buffer reachable under a new STag with `key` as its low octet. `slot` is below
  /// kMaxSlots, idle, and chosen by the owner.
  Stag enable(std::uint32_t slot, std::uint8_t key, const TaggedBuffer& buffer);
  /// Ends an STag: no new pin from now on. Pins that exist go on; see idle(). Any thread; false if
  /// the STag was not in force.
  bool disable(Stag stag);
  /// Whether no pin of the slot is left. Once true after disable() the memory is the owner's again.
  [[nodiscard]] bool idle(std::uint32_t slot) const;
  /// The slot that an STag of this table was enabled in.
  [[nodiscard]] std::uint32_t slot_of(Stag stag) const;

  /// Checks as RFC 5041 §7.1 lists them for tagged segments, and pins [to, to + length) for use.
  /// Errors: kInvalidStag, kStagNotAssociated, kAccessViolation, kTaggedOffsetWrap,
  /// kBoundsViolation.
  Result<Pin, Error> pin(Stag stag, ProtectionDomainId pd, Rights wanted, TaggedOffset to,
                         std::uint64_t length) const;

  /// Ends an STag on behalf of the peer of a stream in `pd` (RFC 5040 §5.3). Errors: kInvalidStag,
  /// kStagNotAssociated, kAccessViolation (not open to remote invalidation).
  Result<void, Error> invalidate_for_peer(Stag stag, ProtectionDomainId pd);

 private:
  static constexpr std::uint32_t kSlotsPerChunk = 1024;
  using Chunk = std::array<Slot, kSlotsPerChunk>;

  [[nodiscard]] Slot* find(std::uint32_t slot) const;
  Slot& make(std::uint32_t slot);
  [[nodiscard]] std::uint32_t scramble(std::uint32_t value) const;
  [[nodiscard]] std::uint32_t unscramble(std::uint32_t value) const;

  std::array<std::uint32_t, 4> round_keys_{};
  std::unique_ptr<std::atomic<Chunk*>[]> chunks_;
};

}  // namespace iwarp::ddp
