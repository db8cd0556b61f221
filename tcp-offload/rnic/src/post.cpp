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

bool is_atomic(Opcode opcode) { return opcode == Opcode::kFetchAdd || opcode == Opcode::kCmpSwap; }

// The verbs' atomics have no masks: fields and parts of a word are RFC 7306's.
bool is_plain(const SendWr& request) {
  const auto& [data, mask, compare, compare_mask] = request.atomic;
  if (request.opcode == Opcode::kFetchAdd) return mask == 0;
  return mask == UINT64_MAX && compare_mask == UINT64_MAX;
}

// What the adapter cannot do.
bool is_lacking(const SendWr& request, const PostLimits& limits) {
  switch (request.opcode) {
    case Opcode::kImmediate:
    case Opcode::kWriteImmediate:
    case Opcode::kRegister: return true;
    case Opcode::kFetchAdd:
    case Opcode::kCmpSwap: return !limits.atomics || !is_plain(request);
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
  if (is_atomic(request.opcode) && octets != sizeof(std::uint64_t))
    return std::errc::invalid_argument;
  if (request.opcode == Opcode::kBindWindow && request.bind == nullptr) {
    return std::errc::invalid_argument;
  }
  const bool too_long = has(request.flags, verbs::SendFlags::kInline) && octets > limits.max_inline;
  return too_long ? std::errc::invalid_argument : std::errc{};
}

std::errc refusal_of(const verbs::RecvWr& request, const PostLimits& limits) {
  if (request.sges.size() > limits.max_recv_sge) return std::errc::invalid_argument;
  return octets_of(request.sges) > UINT32_MAX ? std::errc::message_size : std::errc{};
}

}  // namespace iwarp::rnic
