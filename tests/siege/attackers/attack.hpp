#pragma once

#include <array>
#include <vector>

#include "speech.hpp"

/// The attacks: what one connection of an attacker does.
namespace iwarp::siege {

enum class Attack : std::uint8_t {
  kSilent,
  kNoFirstMessage,
  kHalfFpdu,
  kDrip,
  kFlood,
  kNeverRead,
  kFinUnread,
  kNoReceive,
  kTerminates,
  kAbandoned,
};
inline constexpr std::array<std::string_view, 10> kAttackNames{
    "silent",     "no-first-message", "half-fpdu",  "drip",       "flood",
    "never-read", "fin-unread",       "no-receive", "terminates", "abandoned"};
std::optional<Attack> attack_named(std::string_view name);

enum class Act : std::uint8_t {
  kSend,       ///< `octets`.
  kDrip,       ///< `octets`, one a second.
  kReply,      ///< Reads until the MPA Reply is there.
  kRequests,   ///< Sends Speech::requests.
  kAnswer,     ///< Reads until something has come.
  kFinish,     ///< Sends a FIN.
  kReset,      ///< Ends the connection by RST.
  kLeave,      ///< Closes the socket.
  kHold,       ///< Stays until the other end cuts it off.
  kHoldShort,  ///< Likewise, but two seconds at most.
};
struct Step {
  Act act = Act::kHold;
  Octets octets{};
};

/// Whether an attacker reads what comes while it does not wait for it.
enum class Reading : std::uint8_t { kReads, kNever };

struct Plan {
  Speech speech;
  Reading reading = Reading::kReads;
  std::vector<Step> steps{};
};

/// What the attacker with this number does on its connection number `round`. Attacks with several
/// forms have them side by side: neighbours differ, and each comes to all forms in time.
Plan plan_of(Attack attack, Server server, std::size_t attacker, std::size_t round);

}  // namespace iwarp::siege
