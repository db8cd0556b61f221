#include "soft/qp/work/send_form.hpp"

#include <numeric>

namespace iwarp::verbs::soft {
namespace {

PostError malformed(PostField field, const char* reason) {
  return {.code = std::errc::invalid_argument, .field = field, .reason = reason};
}

// About the element with which a list has more than `limit` octets.
PostError too_long(std::errc code, std::span<const Sge> sges, std::uint64_t limit,
                   const char* reason) {
  std::size_t element = 0;
  for (std::uint64_t sum = sges.front().length; sum <= limit; sum += sges[element].length) {
    ++element;
  }
  return {.code = code, .field = PostField::kSgeLength, .element = element, .reason = reason};
}

// Whether the parts of a request make sense for what it does.
std::optional<PostError> check_parts(const OperationRow& row, const SendWr& request,
                                     std::uint64_t length) {
  if (row.list == ListRule::kNone && !request.sges.empty()) {
    return malformed(PostField::kSges, "this operation has no memory of its own to name");
  }
  if (row.list == ListRule::kAtomicWord && length != rdmap::kAtomicSize) {
    return malformed(PostField::kSges, "what an atomic operation fetches takes eight octets");
  }
  if (row.opcode == Opcode::kBindWindow && request.bind == nullptr) {
    return malformed(PostField::kBind, "kBindWindow needs what it is to bind");
  }
  if (row.opcode == Opcode::kRegister && request.registration == nullptr) {
    return malformed(PostField::kRegistration, "kRegister needs what it is to register");
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t octets_of(std::span<const Sge> sges) {
  return std::accumulate(sges.begin(), sges.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Sge& sge) { return sum + sge.length; });
}

PostError unknown_opcode() { return malformed(PostField::kOpcode, "there is no such operation"); }

std::optional<PostError> check_form(const OperationRow& row, const SendWr& request,
                                    std::uint64_t length, const QpCapacity& capacity) {
  if (auto part = check_parts(row, request, length)) return part;
  if (request.sges.size() > capacity.max_send_sge) {
    return malformed(PostField::kSges, "more elements than QpCapacity::max_send_sge");
  }
  if (length > UINT32_MAX) {
    return too_long(std::errc::message_size, request.sges, UINT32_MAX,
                    "with it the message has 2^32 octets or more (RFC 5041 §5.2)");
  }
  if (!has(request.flags, SendFlags::kInline)) return std::nullopt;
  if (!row.may_be_inline) {
    return malformed(PostField::kFlags, "kInline is for Sends and Writes only");
  }
  if (length <= capacity.max_inline) return std::nullopt;
  return too_long(std::errc::invalid_argument, request.sges, capacity.max_inline,
                  "with it kInline has more octets than QpCapacity::max_inline");
}

}  // namespace iwarp::verbs::soft
