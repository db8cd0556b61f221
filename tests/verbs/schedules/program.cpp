#include "verbs/schedules/program.hpp"

#include <cstring>
#include <ostream>

#include "verbs/schedules/draft.hpp"

namespace iwarp::verbs::simtest::schedules {
namespace {

constexpr const char* kOpcodeNames[] = {
    "Send",        "Send with Invalidate", "Write",    "Read",
    "Immediate",   "Write and Immediate",  "FetchAdd", "CmpSwap",
    "bind window", "invalidate",           "register"};

// How a request can be made to name what it may not; false if this way does not suit it.
enum class Spoil : std::uint8_t { kRemoteStag, kRemoteOffset, kLocalKey, kOther };

bool spoil_remote(Operation& operation, Spoil how) {
  const Opcode opcode = operation.request.opcode;
  const bool atomic = opcode == Opcode::kFetchAdd || opcode == Opcode::kCmpSwap;
  const bool remote = atomic || opcode == Opcode::kRead || opcode == Opcode::kWrite ||
                      opcode == Opcode::kWriteImmediate;
  if (!remote || operation.content.empty()) return false;
  if (how == Spoil::kRemoteStag) {
    operation.request.remote_stag = Stag{operation.request.remote_stag.value() ^ 1U};
  } else {
    operation.request.remote_offset += atomic ? 4 : std::uint64_t{1} << 40U;
  }
  return true;
}

bool spoil_local_key(Operation& operation) {
  const bool keyed = !has(operation.request.flags, SendFlags::kInline);
  for (Sge& sge : operation.sges) {
    if (!keyed || sge.length == 0) continue;
    sge.lkey = Stag{sge.lkey.value() ^ 1U};
    operation.spoiled_sink = operation.here.region != nullptr;
    return true;
  }
  return false;
}

// What no peer is asked for, and what it is asked to end.
bool spoil_other(Operation& operation) {
  switch (operation.request.opcode) {
    case Opcode::kBindWindow:
      if (operation.bind.length == 0) return false;
      operation.bind.length += std::uint64_t{1} << 32U;
      return true;
    case Opcode::kRegister:
      operation.registration.stag = Stag{operation.registration.stag.value() ^ 0x100U};
      return true;
    case Opcode::kInvalidate:
    case Opcode::kSendInvalidate:
      operation.request.invalidate_stag = Stag{operation.request.invalidate_stag.value() ^ 1U};
      return true;
    default: return false;
  }
}

void spoil(Random& random, Part& part) {
  if (part.operations.empty()) return;
  const auto count = static_cast<std::uint32_t>(part.operations.size());
  Operation& operation = part.operations[random.below(count)];
  const auto how = static_cast<Spoil>(random.below(4));
  switch (how) {
    case Spoil::kRemoteStag:
    case Spoil::kRemoteOffset: operation.spoiled = spoil_remote(operation, how); break;
    case Spoil::kLocalKey: operation.spoiled = spoil_local_key(operation); break;
    case Spoil::kOther: operation.spoiled = spoil_other(operation); break;
  }
}

// One receive is too short for its message.
void spoil_receive(Random& random, Part& part, Part& peers) {
  if (part.receives.empty()) return;
  const auto count = static_cast<std::uint32_t>(part.receives.size());
  Receive& receive = part.receives[random.below(count)];
  Operation& operation = peers.operations[receive.operation];
  if (operation.there.region != receive.place.region || operation.content.empty()) return;
  receive.sges.clear();
  operation.spoiled = true;
}

}  // namespace

Program draw_program(Random& random, const Setting& setting, SimPair& pair) {
  Draft draft(random, setting, pair);
  // A responder has to wait for the initiator, which may have nothing to say.
  if (setting.pair.rtr == mpa::Rtr::kNone) draft.add_send(Side::kClient);
  for (std::uint32_t i = 0; i < setting.length; ++i) draft.add_some(kSides[random.below(2)]);
  Program program = std::move(draft).finish();
  if (setting.trouble == Trouble::kBadRequest) {
    Part& part = program.of(setting.at);
    if (random.one_in(5)) {
      spoil_receive(random, part, program.of(other(setting.at)));
    } else {
      spoil(random, part);
    }
  }
  return program;
}

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
  const SendFlags flags = operation.request.flags;
  out << kOpcodeNames[static_cast<std::size_t>(operation.request.opcode)] << ' '
      << operation.request.wr_id << ", " << operation.content.size() << " octets in "
      << operation.sges.size();
  if (has(flags, SendFlags::kSignaled)) out << ", signalled";
  if (has(flags, SendFlags::kFence)) out << ", fenced";
  if (has(flags, SendFlags::kSolicited)) out << ", solicited";
  if (has(flags, SendFlags::kInline)) out << ", inline";
  if (operation.receive) out << ", for receive " << *operation.receive;
  if (operation.hears) out << ", after own receive " << *operation.hears;
  if (operation.spoiled) out << (operation.spoiled_sink ? ", spoiled sink" : ", spoiled");
  return out;
}

}  // namespace iwarp::verbs::simtest::schedules
