#include "attack.hpp"

#include <algorithm>

namespace iwarp::siege {
namespace {

void add(Plan& plan, Act act, Octets octets = {}) {
  plan.steps.push_back({act, std::move(octets)});
}

// As far as a peer comes that means well.
void start_up(Plan& plan, Server server, Mode mode) {
  add(plan, Act::kSend, mpa_request(server, mode));
  add(plan, Act::kReply);
  add(plan, Act::kSend, plan.speech.ready());
}

// Half of them within the Request, the others within an FPDU.
void drip(Plan& plan, Server server, Mode mode, bool within_request) {
  if (within_request) {
    add(plan, Act::kDrip, mpa_request(server, mode));
  } else {
    start_up(plan, server, mode);
    add(plan, Act::kDrip, plan.speech.half_fpdu());
  }
  add(plan, Act::kHold);
}

// Every stage, with every ending.
void abandon(Plan& plan, Server server, Mode mode, std::size_t variant) {
  static constexpr std::array kEndings{Act::kLeave, Act::kReset, Act::kHoldShort};
  const Octets request = mpa_request(server, mode);
  const Act ending = kEndings[variant % kEndings.size()];
  const std::size_t stage = variant / kEndings.size() % 6;
  if (stage == 1 || stage == 2) {
    const auto part = stage == 1 ? request.size() / 3 : request.size() - 1;
    add(plan, Act::kSend, {request.begin(), request.begin() + static_cast<std::ptrdiff_t>(part)});
  }
  if (stage >= 3) add(plan, Act::kSend, request);
  if (stage >= 4) add(plan, Act::kReply);
  if (stage == 5) {
    const Octets ready = plan.speech.ready();
    add(plan, Act::kSend, ready.empty() ? plan.speech.terminate() : ready);
  }
  add(plan, ending);
}

}  // namespace

std::optional<Attack> attack_named(std::string_view name) {
  const auto* const found = std::ranges::find(kAttackNames, name);
  if (found == kAttackNames.end()) return std::nullopt;
  return static_cast<Attack>(found - kAttackNames.begin());
}

Plan plan_of(Attack attack, Server server, std::size_t attacker, std::size_t round) {
  const std::size_t variant = attacker + round;
  const auto any_mode = static_cast<Mode>(variant % kModes);
  // A Send as RTR would take a receive of the program's, whose messages these are not.
  const Mode usual = variant % 2 == 0 ? Mode::kRevision1 : Mode::kWriteRtr;
  const bool all_modes = attack == Attack::kNoFirstMessage || attack == Attack::kAbandoned;
  const Mode mode = all_modes ? any_mode : usual;
  Plan plan{.speech = Speech(server, mode)};
  switch (attack) {
    case Attack::kSilent: add(plan, Act::kHold); break;
    case Attack::kNoFirstMessage:
      add(plan, Act::kSend, mpa_request(server, mode));
      add(plan, Act::kReply);
      add(plan, Act::kHold);
      break;
    case Attack::kHalfFpdu:
      start_up(plan, server, mode);
      add(plan, Act::kSend, plan.speech.half_fpdu());
      add(plan, Act::kHold);
      break;
    case Attack::kDrip: drip(plan, server, mode, variant / 2 % 2 == 0); break;
    case Attack::kFlood: add(plan, Act::kReset); break;
    case Attack::kNeverRead:
      plan.reading = Reading::kNever;
      start_up(plan, server, mode);
      add(plan, Act::kRequests);
      add(plan, Act::kHold);
      break;
    case Attack::kFinUnread:
      plan.reading = Reading::kNever;
      start_up(plan, server, mode);
      add(plan, Act::kRequests);
      add(plan, Act::kFinish);
      add(plan, Act::kHold);
      break;
    case Attack::kNoReceive:
      start_up(plan, server, mode);
      add(plan, Act::kRequests);
      if (variant / 2 % 2 == 0) {  // as a stack does; the others take it and say nothing
        add(plan, Act::kAnswer);
        add(plan, Act::kSend, plan.speech.terminate());
      }
      add(plan, Act::kHold);
      break;
    case Attack::kTerminates:
      start_up(plan, server, mode);
      add(plan, Act::kSend, plan.speech.terminate());
      add(plan, Act::kHold);
      break;
    case Attack::kAbandoned: abandon(plan, server, mode, variant / kModes); break;
  }
  return plan;
}

}  // namespace iwarp::siege
