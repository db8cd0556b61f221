#pragma once

#include <iosfwd>

#include "support/random.hpp"
#include "verbs/sim_harness.hpp"

/// Seeded schedules: what two queue pairs do, over which network, and what goes wrong meanwhile.
namespace iwarp::verbs::simtest::schedules {

using iwarp::test::Random;

enum class Side : std::uint8_t { kClient, kServer };
inline constexpr Side kSides[] = {Side::kClient, Side::kServer};
constexpr Side other(Side side) { return side == Side::kClient ? Side::kServer : Side::kClient; }
/// Of its queue pair.
constexpr std::uint32_t number_of(Side side) { return side == Side::kClient ? 1 : 2; }
constexpr const char* name_of(Side side) { return side == Side::kClient ? "client" : "server"; }

/// What disturbs a schedule. The first two leave everything to be done.
enum class Trouble : std::uint8_t {
  kNone,
  kHiccup,          ///< The network, or one end, stands still for a second.
  kDisconnect,      ///< One end has had enough in the middle.
  kBadRequest,      ///< One request names what it may not.
  kStarvation,      ///< One end posts fewer receives than will be needed.
  kDeregistration,  ///< One end takes a region away.
  kCorruption,
  kReset,
  kStall,  ///< For longer than any time-out.
  kFinInsideFpdu,
  kDeafness,  ///< One end stops reading for good.
  kAbort,
  kDestruction,
  kEnding,  ///< One end leaves in one of three ways while the other one reads now and then.
};
inline constexpr std::uint32_t kTroubles = 14;
const char* name_of(Trouble trouble);

/// How one end leaves.
enum class Leaving : std::uint8_t { kDisconnect, kClose, kDestruction };
inline constexpr std::uint32_t kLeavings = 3;

/// The frame of one schedule.
struct Setting {
  PairOptions pair;
  Trouble trouble = Trouble::kNone;
  Side at = Side::kClient;    ///< The end in trouble, or that sends the octets that suffer.
  std::uint64_t offset = 0;   ///< Of the octet where the network fails.
  std::uint64_t steps = 0;    ///< When a local act happens.
  bool copies = true;         ///< The device has copied what it accepts at once.
  std::uint32_t length = 0;   ///< Of the program, about.
  std::uint32_t longest = 0;  ///< Message, in octets.
  std::uint32_t pace = 1;     ///< Something is posted at every so many steps.
  bool intrudes = false;      ///< Acts, too, while a half of the queue pair is at work.
  Leaving leaving = Leaving::kDisconnect;  ///< Of an ending,
  std::chrono::milliseconds nap{0};        ///< how long the other end does not read at a time,
  std::uint32_t naps = 0;                  ///< and how often.

  /// Whether everything has to be done, and everybody to part in peace.
  [[nodiscard]] bool clean() const {
    return trouble == Trouble::kNone || trouble == Trouble::kHiccup;
  }
  /// Whether both sides end the connection properly, and nothing gets lost on the way.
  [[nodiscard]] bool orderly() const { return trouble <= Trouble::kDeregistration; }
  /// Whether an end that leaves waits for the other one as long as that takes. The silence is
  /// longer than the nap by a few ticks of the network's clock.
  [[nodiscard]] bool patient() const {
    constexpr std::chrono::seconds kTicks{1};
    return trouble == Trouble::kEnding && nap + kTicks < pair.client.timeouts.linger;
  }
  /// Whether a change on the way may pass for something that was sent.
  [[nodiscard]] bool deceptive() const {
    return trouble == Trouble::kCorruption && pair.crc == mpa::Crc::kOff;
  }
};

Setting draw_setting(Random& random);
std::ostream& operator<<(std::ostream& out, const Setting& setting);

}  // namespace iwarp::verbs::simtest::schedules
