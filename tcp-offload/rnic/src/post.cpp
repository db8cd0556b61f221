#include "post.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Opcode;
using verbs::SendWr;

std::uint64_t octets_of(std::span<const verbs::Sge> sges) {
  std::uint64_t octets = 0;
  for (const verbs::Sge& each : sges) octets += each.length;
  return octets;
}

bool may_be_inline(Opcode opcode) {
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

}  // namespace

std::errc refusal_of(const SendWr& request, const PostLimits& limits) {
  const std::uint64_t octets = octets_of(request.sges);
  if (request.opcode > Opcode::kRegister) return std::errc::invalid_argument;
  if (is_lacking(request, limits)) return std::errc::not_supported;
  if (request.sges.size() > limits.max_send_sge) return std::errc::invalid_argument;
  if (octets > UINT32_MAX) return std::errc::message_size;
  if (request.opcode == Opcode::kBindWindow && request.bind == nullptr) {
    return std::errc::invalid_argument;
  }
  if (!has(request.flags, verbs::SendFlags::kInline)) return {};
  const bool taken = may_be_inline(request.opcode) && octets <= limits.max_inline;
  return taken ? std::errc{} : std::errc::invalid_argument;
}

std::errc refusal_of(const verbs::RecvWr& request, const PostLimits& limits) {
  if (request.sges.size() > limits.max_recv_sge) return std::errc::invalid_argument;
  return octets_of(request.sges) > UINT32_MAX ? std::errc::message_size : std::errc{};
}

}  // namespace iwarp::rnic
