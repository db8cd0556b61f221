#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iwarp/verbs/fair_share.hpp>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace iwarp::cli::file_service {

/// What a client does with its slot. In this order clients make room, the first one first: what is
/// lost with them grows.
enum class SlotUse : std::uint8_t {
  kNothingAsked,   ///< It has not sent a request yet.
  kInLine,         ///< Its transfer waits for a buffer.
  kIdle,           ///< It has what it asked for.
  kStrangerRests,  ///< Nothing of its transfer has moved for a while, and it is a stranger's.
  kTransferRests,  ///< The same, of a known network.
  kInUse,
};
inline constexpr std::size_t kSlotUses = 6;

/// The clients that a server has at once, up to a limit. Beyond that one that makes no use of its
/// slot makes room: of those that lose least the one that has been so for longest, fair by network
/// (verbs::FairShare). One that has only just come has time to ask first (kTimeToAsk). A network
/// with a large share drives out none with fewer slots, but one of its own. Thread-safe.
class Slots {
 public:
  /// A client, from its admission on. Never given twice.
  using Number = std::uint64_t;
  using Clock = std::chrono::steady_clock;

  explicit Slots(std::size_t most) : most_(most) {}

  struct Admission {
    std::optional<Number> client;      ///< None: it is refused.
    std::optional<Number> makes_room;  ///< This one has lost its slot.
  };
  /// Whether there is a slot for a client from `peer`, which has asked nothing yet.
  Admission admit(const verbs::Address& peer, Clock::time_point now);
  /// Nothing, if the client has no slot any more.
  void note(Number client, SlotUse use);
  void leave(Number client);
  /// Which client gives its buffers, and so its slot, back where there are not enough: the transfer
  /// that has rested for longest, fair by network; of strangers first, or `of_strangers` only. None
  /// if all move.
  std::optional<Number> gives_buffers_back(bool of_strangers);

 private:
  struct Slot {
    verbs::Address peer;
    Clock::time_point since;
    SlotUse use;
  };
  [[nodiscard]] std::optional<Number> spare(const verbs::Address& newcomer,
                                            Clock::time_point now) const;
  /// One with this use that makes room for the newcomer.
  [[nodiscard]] std::optional<Number> spare_of(SlotUse use, const verbs::Address& newcomer) const;
  verbs::FairShare<Number>& with(SlotUse use) { return by_use_[static_cast<std::size_t>(use)]; }
  void add(Number client, const verbs::Address& peer, Clock::time_point now);
  void remove(Number client);

  const std::size_t most_;
  std::mutex mutex_;
  std::unordered_map<Number, Slot> slots_;
  verbs::FairShare<Number> all_;
  std::array<verbs::FairShare<Number>, kSlotUses> by_use_;
  Number next_ = 0;
};

}  // namespace iwarp::cli::file_service
