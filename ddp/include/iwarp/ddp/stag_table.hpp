#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/flags.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/base/strong_id.hpp"
#include "iwarp/ddp/error.hpp"
#include "iwarp/ddp/stag_names.hpp"

namespace iwarp::ddp {

/// The protection domains of a device, as the owner of the table numbers them.
using ProtectionDomainId = StrongId<struct ProtectionDomainIdTag, std::uint32_t>;
/// The streams of a device, as the owner of the table numbers them: none has the number of an
/// earlier one, so that what was open to that one alone stays closed.
using StreamId = StrongId<struct StreamIdTag, std::uint64_t>;
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
IWARP_FLAGS(Rights)

/// One life of a Tagged Buffer under an STag, from the moment it comes into force. What comes into
/// force later, under the same STag perhaps, is another one: their numbers never come again.
class Registration {
 public:
  constexpr Registration() = default;  ///< None.
  /// Whether it is one.
  constexpr explicit operator bool() const { return number_ != 0; }
  /// Unique within its table.
  [[nodiscard]] constexpr std::uint64_t number() const { return number_; }

 private:
  friend class StagTable;
  constexpr Registration(void* slot, std::uint64_t number) : slot_(slot), number_(number) {}
  void* slot_ = nullptr;
  std::uint64_t number_ = 0;
};

/// A Tagged Buffer: memory with a range of Tagged Offsets, rights and a protection domain. It may
/// be open to one stream only, and may be a window on another buffer, with which it ends.
struct TaggedBuffer {
  std::byte* memory = nullptr;    ///< The first octet.
  TaggedOffset base;              ///< The Tagged Offset of the first octet.
  std::uint64_t length = 0;       ///< Octets.
  ProtectionDomainId pd;          ///< The accessor's has to be the same.
  Rights rights = Rights::kNone;  ///< What may be done with it.
  StreamId stream = kAnyStream;   ///< The only stream that may use it, if any.
  Registration parent{};          ///< The buffer that this one is a window on, if any.
};

/// What became of an attempt to bring a reserved STag into force: it is, it may be tried again when
/// the copy that is under way has ended, or it cannot be.
enum class Activation : std::uint8_t { kDone, kBusy, kRefused };

/// The buffers that STags name. Looking up and pinning is free of locks and may be done by any
/// number of threads at once, also while STags begin and end. Any thread may end an STag; what is
/// marked as the owner's is done by one thread at a time (the owner sees to that).
///
/// Values come back late (RFC 5042 §6.1.1). However many STags are in force, one that the table
/// chose as a whole is handed out again after kLeastBetween others at the earliest, an index whose
/// keys its owner chooses after kLeastBetweenOwned. A value that has come back names one buffer:
/// a peer that knows it from an earlier life reaches no other protection domain, and no window of
/// an earlier life opens again.
class StagTable {
  struct Slot;

 public:
  /// STags in force, or set aside, at a time.
  static constexpr std::uint32_t kMaxStags = 1U << 20U;
  /// STags that are handed out between two uses of one value.
  static constexpr std::uint64_t kLeastBetween = 2'000'000'000;
  /// The same for an index whose keys are its owner's.
  static constexpr std::uint64_t kLeastBetweenOwned = 2'000'000;

  /// Holds a buffer in place while it is read or written; released by destruction.
  class Pin {
   public:
    Pin() = default;
    /// Takes the pin over; `other` holds nothing afterwards.
    Pin(Pin&& other) noexcept
        : slot_(std::exchange(other.slot_, nullptr)),
          parent_(std::exchange(other.parent_, nullptr)),
          memory_(other.memory_),
          use_(other.use_) {}
    /// Swaps the two pins.
    Pin& operator=(Pin&& other) noexcept {
      std::swap(slot_, other.slot_);
      std::swap(parent_, other.parent_);
      std::swap(memory_, other.memory_);
      std::swap(use_, other.use_);
      return *this;
    }
    ~Pin();
    /// The first octet of the range that was asked for.
    [[nodiscard]] std::byte* memory() const { return memory_; }
    /// Where [to, to + length) of the buffer that is held lies; null if `stag` does not name it any
    /// more, or not with these rights, or the range is not within: then pin() says why. By whom it
    /// is used must be as it was.
    [[nodiscard]] std::byte* reach(Stag stag, Rights wanted, TaggedOffset to,
                                   std::uint64_t length) const;
    /// The buffer that is held, for a window on it. Precondition: it holds one.
    [[nodiscard]] Registration registration() const;
    /// What comes now is no copy: a device reads the memory until a peer acknowledges. Holds off
    /// idle() as before, but nothing that waits for quiet().
    void lend();

   private:
    friend class StagTable;
    Slot* slot_ = nullptr;
    Slot* parent_ = nullptr;
    std::byte* memory_ = nullptr;
    std::uint64_t use_ = 1;
  };

  /// Where a stream has found an STag last: finding it again takes one comparison. Goes with one
  /// table, which it does not outlive. Not thread-safe.
  class Recent {
   private:
    friend class StagTable;
    Slot* slot_ = nullptr;
  };

  /// `secret` keys the permutation: random in programs, fixed in tests.
  explicit StagTable(std::uint64_t secret);
  ~StagTable();
  StagTable(const StagTable&) = delete;
  StagTable& operator=(const StagTable&) = delete;

  /// Makes a buffer reachable under a new STag; none if kMaxStags are taken. The owner's.
  std::optional<Stag> enable(const TaggedBuffer& buffer);
  /// Sets an STag aside that is not in force yet, for windows and fast registration, whose owners
  /// bring it into force; none if kMaxStags are taken. The owner's.
  std::optional<Stag> reserve(KeyChoice choice);
  /// Brings a reserved STag into force; again after it has ended. With KeyChoice::kOwner under any
  /// key. kRefused if its index is not the one reserved, or in force. The owner's.
  Activation activate(Stag stag, const TaggedBuffer& buffer);
  /// Ends whatever is in force under the index of `stag`. The owner's.
  void end(Stag stag);
  /// Gives an STag that has ended back, whatever its key. The owner's.
  void release(Stag stag);
  /// The life that an STag is in; none if it is not in force. The owner's.
  [[nodiscard]] Registration registration_of(Stag stag) const;

  /// Ends an STag: no new pin from now on. Pins that exist go on; see idle(). Any thread; false if
  /// the STag was not in force.
  bool disable(Stag stag);
  /// Whether the STag is in force at this moment.
  [[nodiscard]] bool in_force(Stag stag) const;
  /// Whether no pin is left. Once true after an STag has ended the memory is the owner's again.
  [[nodiscard]] bool idle(Stag stag) const;
  /// Whether no copy from or to the memory of an STag that has ended is under way any more. What
  /// has been lent does not count: waiting for this is never waiting for a peer.
  [[nodiscard]] bool quiet(Stag stag) const;

  /// Checks as RFC 5041 §7.1 lists them for tagged segments, and pins [to, to + length) for use.
  /// Errors: kInvalidStag, kStagNotAssociated, kAccessViolation, kTaggedOffsetWrap,
  /// kBoundsViolation. A window whose parent has ended is an invalid STag. `recent` is the
  /// stream's.
  Result<Pin, Error> pin(Stag stag, const Accessor& by, Rights wanted, TaggedOffset to,
                         std::uint64_t length, Recent& recent) const;
  /// The same for once.
  Result<Pin, Error> pin(Stag stag, const Accessor& by, Rights wanted, TaggedOffset to,
                         std::uint64_t length) const {
    Recent recent;
    return pin(stag, by, wanted, to, length, recent);
  }

  /// Ends an STag on behalf of the peer of a stream (RFC 5040 §5.3); also a window whose parent has
  /// ended. Errors: kInvalidStag, kStagNotAssociated, kAccessViolation (not open to remote
  /// invalidation).
  Result<void, Error> invalidate_for_peer(Stag stag, const Accessor& by);

 private:
  struct Directory;

  [[nodiscard]] Slot* find(Stag stag) const;
  [[nodiscard]] Slot* find(Stag stag, Recent& recent) const;
  [[nodiscard]] Slot* own(Stag stag) const;
  Slot* take(KeyChoice choice);
  Slot* vacant_slot();
  void grow();
  void put_in_force(Slot& slot, Stag stag, const TaggedBuffer& buffer);
  static std::optional<Error> pin_slot(Pin& held, Slot* slot, Stag stag, const Accessor& by,
                                       Rights wanted);
  static bool pin_parent(Pin& held, const Registration& parent);
  static Result<std::byte*, Error> range(const TaggedBuffer& buffer, TaggedOffset to,
                                         std::uint64_t length);

  const StagNames names_;
  std::atomic<Directory*> directory_;
  // The owner's. Slots and directories stay until the end: look-ups may be inside.
  std::vector<std::unique_ptr<Directory>> directories_;
  std::vector<std::unique_ptr<Slot[]>> chunks_;
  std::vector<Slot*> free_;
  std::deque<Slot*> leaving_;            // released, but still lent
  std::array<std::uint64_t, 2> next_{};  // by KeyChoice
  std::uint64_t registrations_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace iwarp::ddp
