#include <algorithm>
#include <array>

#include "agent/session.hpp"

/// Work requests and how they ended.
namespace iwarp::agent {
namespace {

using verbs::Opcode;
using verbs::SendFlags;
using verbs::Status;

// What an operation of the protocol asks the stack for.
struct NamedRequest {
  agent_protocol::Operation name;
  Opcode opcode;
  SendFlags flags = SendFlags::kNone;
};
constexpr NamedRequest kRequests[] = {
    {"send", Opcode::kSend},
    {"send_se", Opcode::kSend, SendFlags::kSolicited},
    {"send_inv", Opcode::kSendInvalidate},
    {"send_se_inv", Opcode::kSendInvalidate, SendFlags::kSolicited},
    {"write", Opcode::kWrite},
    {"read", Opcode::kRead},
    {"fetch_add", Opcode::kFetchAdd},
    {"cmp_swap", Opcode::kCmpSwap},
    {"write_imm", Opcode::kWriteImmediate},
    {"imm", Opcode::kImmediate},
    {"imm_se", Opcode::kImmediate, SendFlags::kSolicited},
};
static_assert(std::size(kRequests) == std::size(agent_protocol::kOperations));

const NamedRequest& request_of(std::string_view operation) {
  return *std::ranges::find(kRequests, operation,
                            [](const NamedRequest& each) { return each.name.text(); });
}

// Eight octets, the most significant first.
std::uint64_t immediate_of(const Command& command) {
  const auto octets = command.octets("immediate");
  if (octets.size() != sizeof(std::uint64_t)) throw invalid("immediate is not 8 octets");
  std::uint64_t value = 0;
  for (const std::byte octet : octets) value = value << 8U | std::to_integer<std::uint64_t>(octet);
  return value;
}

std::array<std::byte, 8> octets_of(std::uint64_t immediate) {
  std::array<std::byte, 8> octets;
  for (std::size_t i = octets.size(); i > 0; immediate >>= 8U) {
    octets[--i] = static_cast<std::byte>(immediate);
  }
  return octets;
}

agent_protocol::Status name_of(Status status) {
  switch (status) {
    case Status::kSuccess: return "success";
    case Status::kLocalLengthError: return "local_length";
    case Status::kLocalProtectionError: return "local_protection";
    case Status::kWindowBindError: return "bind";
    case Status::kFlushed: return "flushed";
    case Status::kRemoteInvalidRequest: return "remote_invalid_request";
    case Status::kRemoteAccessError: return "remote_access";
    case Status::kRemoteOperationError: return "remote_operation";
    case Status::kUnreachable:
    case Status::kFatal: return "aborted";
    case Status::kLocalQpError: return "other";
  }
  return "other";
}

// What is in a completion only if its request succeeded.
void add_details(Reply& reply, const verbs::Completion& completion) {
  using verbs::CompletionFlags;
  if (has(completion.flags, CompletionFlags::kInvalidated)) {
    reply.stag("invalidated", completion.invalidated);
  }
  if (has(completion.flags, CompletionFlags::kImmediate)) {
    reply.octets("immediate", octets_of(completion.immediate));
  }
  if (has(completion.flags, CompletionFlags::kSolicited)) reply.number("solicited", 1);
}

}  // namespace

Reply Session::receive(const Command& command) {
  const auto sges = sges_of(command);
  endpoint_of(command).receive(command.number("id"), sges);
  return {};
}

Reply Session::post(const Command& command) {
  using agent_protocol::kOperations;
  const auto* const operation = agent_protocol::find_line(kOperations, command.text("op"));
  if (operation == std::end(kOperations)) throw invalid("there is no such operation");
  command.check("endpoint id op " + std::string(operation->required));
  need(operation->feature);
  const NamedRequest& asked = request_of(operation->word);
  verbs::SendWr request{.opcode = asked.opcode, .flags = asked.flags};
  const auto sges = command.has("region") ? sges_of(command) : std::vector<verbs::Sge>{};
  request.sges = sges;
  if (command.has("stag")) request.remote_stag = command.stag("stag");
  if (command.has("address")) request.remote_offset = command.hex("address");
  if (command.has("invalidate")) request.invalidate_stag = command.stag("invalidate");
  if (command.has("immediate")) request.immediate = immediate_of(command);
  if (command.has("add")) request.atomic.data = command.hex("add");
  if (command.has("swap")) request.atomic.data = command.hex("swap");
  if (command.has("compare")) request.atomic.compare = command.hex("compare");
  if (asked.opcode == Opcode::kCmpSwap) request.atomic.mask = UINT64_MAX;
  endpoint_of(command).post(command.number("id"), std::string(operation->word), request,
                            options_.attend);
  return {};
}

Reply Session::completion(const Command& command) {
  const auto report = endpoint_of(command).completion(command.wait(), options_.attend);
  if (!report) return Reply().text("completion", agent_protocol::kNone);
  const verbs::Completion& completion = report->completion;
  const bool good = completion.status == Status::kSuccess;
  const bool carries = report->op == "receive" || report->op == "read";
  const bool immediate = good && has(completion.flags, verbs::CompletionFlags::kImmediate);
  Reply reply;
  reply.number("id", report->id)
      .text("status", name_of(completion.status))
      .text("op", immediate ? "receive_imm" : report->op)
      .number("length", good && carries ? completion.byte_length : 0);
  if (good) add_details(reply, completion);
  return reply;
}

}  // namespace iwarp::agent
