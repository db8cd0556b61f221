#include "post.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Opcode;
using verbs::PostField;
using verbs::SendWr;

std::uint64_t octets_of(std::span<const verbs::Sge> sges) {
  std::uint64_t octets = 0;
  for (const verbs::Sge& each : sges) octets += each.length;
  return octets;
}

bool sends_memory(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kSendInvalidate || opcode == Opcode::kWrite;
}

// What the adapter cannot do: RFC 7306 has operations that the verbs do not know.
bool is_lacking(const SendWr& request, const PostLimits& limits) {
  switch (request.opcode) {
    case Opcode::kImmediate:
    case Opcode::kWriteImmediate:
    case Opcode::kFetchAdd:
    case Opcode::kCmpSwap:
    case Opcode::kRegister: return true;
    case Opcode::kInvalidate:
    case Opcode::kBindWindow: return !limits.windows;
    default: return false;
  }
}

verbs::PostError malformed(PostField field, const char* reason) {
  return {.code = std::errc::invalid_argument, .field = field, .reason = reason};
}

verbs::PostError too_long() { return {.code = std::errc::message_size, .field = PostField::kSges}; }

}  // namespace

std::optional<verbs::PostError> refusal_of(const SendWr& request, const PostLimits& limits) {
  const std::uint64_t octets = octets_of(request.sges);
  if (request.opcode > Opcode::kRegister) {
    return malformed(PostField::kOpcode, "there is no such operation");
  }
  if (is_lacking(request, limits)) {
    return verbs::PostError{.code = std::errc::not_supported,
                            .field = PostField::kOpcode,
                            .reason = "the adapter does not have this operation"};
  }
  if (request.sges.size() > limits.max_send_sge) {
    return malformed(PostField::kSges, "more elements than QpCapacity::max_send_sge");
  }
  if (octets > UINT32_MAX) return too_long();
  if (request.opcode == Opcode::kBindWindow && request.bind == nullptr) {
    return malformed(PostField::kBind, "kBindWindow needs what it is to bind");
  }
  if (!has(request.flags, verbs::SendFlags::kInline)) return std::nullopt;
  if (!sends_memory(request.opcode)) {
    return malformed(PostField::kFlags, "kInline is for Sends and Writes only");
  }
  if (octets <= limits.max_inline) return std::nullopt;
  return malformed(PostField::kSges, "with kInline more octets than QpCapacity::max_inline");
}

bool wants_telling(const SendWr& request, const PostLimits& limits) {
  return limits.max_silent != UINT32_MAX && sends_memory(request.opcode) &&
         octets_of(request.sges) > limits.max_silent;
}

std::optional<verbs::PostError> refusal_of(const verbs::RecvWr& request, const PostLimits& limits) {
  if (request.sges.size() > limits.max_recv_sge) {
    return malformed(PostField::kSges, "more elements than QpCapacity::max_recv_sge");
  }
  if (octets_of(request.sges) > UINT32_MAX) return too_long();
  return std::nullopt;
}

}  // namespace iwarp::rnic
