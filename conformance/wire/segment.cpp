#include "wire/segment.hpp"

#include <iterator>

namespace iwarp::conform {

const MessageKind* kind_of(std::uint8_t opcode) {
  static constexpr MessageKind kKinds[] = {
      {.name = "RDMA Write", .tagged = true},
      {.name = "RDMA Read Request", .queue = kReadQueue},
      {.name = "RDMA Read Response", .tagged = true},
      {.name = "Send"},
      {.name = "Send with Invalidate", .invalidates = true},
      {.name = "Send with Solicited Event"},
      {.name = "Send with Solicited Event and Invalidate", .invalidates = true},
      {.name = "Terminate", .queue = kTerminateQueue},
      {.name = "Immediate Data"},
      {.name = "Immediate Data with Solicited Event"},
      {.name = "Atomic Request", .queue = kReadQueue},
      {.name = "Atomic Response", .queue = kAtomicResponseQueue},
  };
  return opcode < std::size(kKinds) ? &kKinds[opcode] : nullptr;
}

std::string_view name_of(std::uint8_t opcode) {
  const MessageKind* kind = kind_of(opcode);
  return kind != nullptr ? kind->name : "unknown opcode";
}

Segment tagged_segment(Opcode opcode, std::uint32_t stag, std::uint64_t to, Octets payload,
                       bool last) {
  Segment segment;
  segment.ddp_control = kTagged | (last ? kLast : 0) | kDdpVersion;
  segment.rdmap_control = kRdmapVersion | opcode;
  segment.stag = stag;
  segment.to = to;
  segment.payload = std::move(payload);
  return segment;
}

Segment untagged_segment(Opcode opcode, std::uint32_t qn, std::uint32_t msn, std::uint32_t mo,
                         Octets payload, bool last) {
  Segment segment;
  segment.ddp_control = (last ? kLast : 0) | kDdpVersion;
  segment.rdmap_control = kRdmapVersion | opcode;
  segment.qn = qn;
  segment.msn = msn;
  segment.mo = mo;
  segment.payload = std::move(payload);
  return segment;
}

Octets encode(const Segment& segment) {
  Octets out{segment.ddp_control, segment.rdmap_control};
  if (segment.tagged()) {
    put32(out, segment.stag);
    put64(out, segment.to);
  } else {
    put32(out, segment.invalidate_stag);
    put32(out, segment.qn);
    put32(out, segment.msn);
    put32(out, segment.mo);
  }
  put(out, segment.payload);
  return out;
}

std::optional<Segment> parse_segment(OctetView ulpdu) {
  if (ulpdu.size() < 2) return std::nullopt;
  Segment segment;
  segment.ddp_control = ulpdu[0];
  segment.rdmap_control = ulpdu[1];
  const std::size_t header = segment.tagged() ? kTaggedHeaderSize : kUntaggedHeaderSize;
  if (ulpdu.size() < header) return std::nullopt;
  if (segment.tagged()) {
    segment.stag = get32(ulpdu, 2);
    segment.to = get64(ulpdu, 6);
  } else {
    segment.invalidate_stag = get32(ulpdu, 2);
    segment.qn = get32(ulpdu, 6);
    segment.msn = get32(ulpdu, 10);
    segment.mo = get32(ulpdu, 14);
  }
  segment.payload.assign(ulpdu.begin() + static_cast<std::ptrdiff_t>(header), ulpdu.end());
  return segment;
}

}  // namespace iwarp::conform
