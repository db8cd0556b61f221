#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/base/strong_id.hpp"
#include "iwarp/ddp/error.hpp"

namespace iwarp::ddp {

/// The protection domains of a device, as the owner of the table numbers them.
using ProtectionDomainId = StrongId<struct ProtectionDomainIdTag, std::uint32_t>;
/// The streams of a device, as the owner of the table numbers them.
using StreamId = StrongId<struct StreamIdTag, std::uint32_t>;
/// For buffers that are open to every stream of their protection domain.
inline constexpr StreamId kAnyStream{0};

/// On whose behalf a buffer is used: a stream and its protection domain.
struct Accessor {
  /// Implicit: for most buffers the protection domain is all that counts.
  constexpr Accessor(ProtectionDomainId in_pd, StreamId as_stream = kAnyStream)
      : pd(in_pd), stream(as_stream) {}
  ProtectionDomainId pd;  ///< Must be the buffer's.
  StreamId stream;        ///< Must be the buffer's, if that has one.
};

/// What a Tagged Buffer allows. Local read is always allowed.
enum class Rights : std::uint8_t {
  kNone = 0,
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
  kRemoteInvalidate = 16,
  kWindowBind = 32,  ///< Windows may be opened on it.
};
/// The union of two sets.
constexpr Rights operator|(Rights a, Rights b) {
  return static_cast<Rights>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// Whether all that is `wanted` is in `set`.
constexpr bool includes(Rights set, Rights wanted) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(wanted)) ==
         static_cast<unsigned>(wanted);
}

/// A Tagged Buffer: memory with a range of Tagged Offsets, rights and a protection domain. It may
/// be open to one stream only, and may be a window on another buffer, with which it ends.
struct TaggedBuffer {
  std::byte* memory = nullptr;    ///< The first octet.
  TaggedOffset base;              ///< The Tagged Offset of the first octet.
  std::uint64_t length = 0;       ///< Octets.
  ProtectionDomainId pd;          ///< The accessor's has to be the same.
  Rights rights = Rights::kNone;  ///< What may be done with it.
  StreamId stream = kAnyStream;   ///< The only stream that may use it, if any.
  Stag parent{};                  ///< The buffer that this one is a window on; 0 for none.
};

/// What became of an attempt to bring a reserved STag into force: it is, it may be tried again when
/// the slot is idle, or it cannot be.
enum class Activation : std::uint8_t { kDone, kBusy, kRefused };

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
  /// STags in force, or set aside, at a time.
  static constexpr std::uint32_t kMaxSlots = 1U << 20U;

  /// Holds a buffer in place while it is read or written; released by destruction.
  class Pin {
   public:
    Pin() = default;
    /// Takes the pin over; `other` holds nothing afterwards.
    Pin(Pin&& other) noexcept
        : slot_(std::exchange(other.slot_, nullptr)),
          parent_(std::exchange(other.parent_, nullptr)),
          memory_(other.memory_) {}
    /// Swaps the two pins.
    Pin& operator=(Pin&& other) noexcept {
      std::swap(slot_, other.slot_);
      std::swap(parent_, other.parent_);
      std::swap(memory_, other.memory_);
      return *this;
    }
    ~Pin();
    /// The first octet of the range that was asked for.
    [[nodiscard]] std::byte* memory() const { return memory_; }

   private:
    friend class StagTable;
    Slot* slot_ = nullptr;
    Slot* parent_ = nullptr;
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
  /// Sets an idle slot aside under an STag that is not in force yet, with `key` as its low octet:
  /// for windows and fast registration, whose owners bring it into force and choose the key.
  Stag reserve(std::uint32_t slot, std::uint8_t key);
  /// Brings a reserved STag into force, under any key; again after disable(). One thread at a time
  /// for one index. kRefused if the index is not the one reserved, or in force.
  Activation activate(Stag stag, const TaggedBuffer& buffer);
  /// Ends an STag: no new pin from now on. Pins that exist go on; see idle(). Any thread; false if
  /// the STag was not in force.
  bool disable(Stag stag);
  /// Whether the STag is in force at this moment.
  [[nodiscard]] bool in_force(Stag stag) const;
  /// Whether no pin of the slot is left. Once true after disable() the memory is the owner's again.
  [[nodiscard]] bool idle(std::uint32_t slot) const;
  /// The slot that an STag of this table was enabled in.
  [[nodiscard]] std::uint32_t slot_of(Stag stag) const;

  /// Checks as RFC 5041 §7.1 lists them for tagged segments, and pins [to, to + length) for use.
  /// Errors: kInvalidStag, kStagNotAssociated, kAccessViolation, kTaggedOffsetWrap,
  /// kBoundsViolation. A window whose parent has ended is an invalid STag.
  Result<Pin, Error> pin(Stag stag, const Accessor& by, Rights wanted, TaggedOffset to,
                         std::uint64_t length) const;

  /// Ends an STag on behalf of the peer of a stream (RFC 5040 §5.3); also a window whose parent has
  /// ended. Errors: kInvalidStag, kStagNotAssociated, kAccessViolation (not open to remote
  /// invalidation).
  Result<void, Error> invalidate_for_peer(Stag stag, const Accessor& by);

 private:
  static constexpr std::uint32_t kSlotsPerChunk = 1024;
  using Chunk = std::array<Slot, kSlotsPerChunk>;

  [[nodiscard]] Slot* find(std::uint32_t slot) const;
  Slot& make(std::uint32_t slot);
  [[nodiscard]] std::uint32_t index_of(const Slot& entry, std::uint32_t slot) const;
  std::optional<Error> pin_slot(Pin& held, Stag stag, const Accessor& by, Rights wanted) const;
  bool pin_parent(Pin& held, Stag parent) const;
  [[nodiscard]] std::uint32_t scramble(std::uint32_t value) const;
  [[nodiscard]] std::uint32_t unscramble(std::uint32_t value) const;

  std::array<std::uint32_t, 4> round_keys_{};
  std::unique_ptr<std::atomic<Chunk*>[]> chunks_;
};

}  // namespace iwarp::ddp
