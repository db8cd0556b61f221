#include "wire/segment.hpp"

#include <array>

#include "decode/layers.hpp"

namespace iwarp::conform {
namespace {

constexpr std::array<std::string_view, 4> kQueueNames{
    "Send", "RDMA Read Request and Atomic Request", "Terminate", "Atomic Response"};

void decode_ddp_control(Cursor& cursor, SegmentHeader& header) {
  const auto octet = cursor.hex(Part::kDdp, 1, "DDP Control");
  if (!octet) return;
  header.tagged = (*octet & kTagged) != 0;
  header.last = (*octet & kLast) != 0;
  cursor.field().value += std::string(": ") + (header.tagged ? "tagged" : "untagged") +
                          (header.last ? ", last" : ", not last");
  cursor.bits(8, *octet, kTagged, "T");
  cursor.says(header.tagged ? "1: tagged" : "0: untagged");
  cursor.bits(8, *octet, kLast, "L");
  cursor.says(header.last ? "1: the last segment of its message" : "0: more segments follow");
  if (cursor.bits(8, *octet, kDdpReserved, "Rsvd") != 0) cursor.irregular("not zero");
  if (cursor.bits(8, *octet, kDdpVersionMask, "DV") != kDdpVersion) {
    cursor.irregular("the version is 1");
  }
}

void decode_rdmap_control(Cursor& cursor, SegmentHeader& header) {
  const auto octet = cursor.hex(Part::kRdmap, 1, "RDMAP Control");
  if (!octet) return;
  header.opcode = static_cast<std::uint8_t>(*octet & kOpcodeMask);
  const std::string name(name_of(header.opcode));
  cursor.field().value += ": " + name;
  if (cursor.bits(8, *octet, kRdmapVersionMask, "RV") != 1) cursor.irregular("the version is 1");
  if (cursor.bits(8, *octet, kRdmapReserved, "Rsv") != 0) cursor.irregular("not zero");
  cursor.bits(8, *octet, kOpcodeMask, "Opcode");
  cursor.field().value += ": " + name;
  const MessageKind* kind = kind_of(header.opcode);
  if (kind == nullptr) {
    cursor.irregular("no message has it");
  } else if (kind->tagged != header.tagged) {
    cursor.irregular(kind->tagged ? "which is tagged" : "which is untagged");
  }
}

void decode_tagged(Cursor& cursor, SegmentHeader& header) {
  header.stag = static_cast<std::uint32_t>(cursor.hex(Part::kDdp, 4, "STag").value_or(0));
  const auto to = cursor.hex(Part::kDdp, 8, "TO");
  header.to = to.value_or(0);
  header.whole = to.has_value();
}

void decode_queue(Cursor& cursor, SegmentHeader& header, const MessageKind* kind) {
  const auto qn = cursor.number(Part::kDdp, 4, "QN");
  if (!qn) return;
  header.qn = static_cast<std::uint32_t>(*qn);
  if (*qn >= kQueueNames.size()) {
    cursor.irregular("no such queue");
    return;
  }
  cursor.field().value += ": " + std::string(kQueueNames[*qn]);
  if (kind != nullptr && !kind->tagged && kind->queue != *qn) {
    cursor.irregular("but the opcode belongs on " + std::to_string(kind->queue));
  }
}

void decode_untagged(Cursor& cursor, SegmentHeader& header) {
  const MessageKind* kind = kind_of(header.opcode);
  const bool invalidates = kind != nullptr && kind->invalidates;
  if (const auto stag = cursor.hex(Part::kRdmap, 4, "Invalidate STag")) {
    header.stag = static_cast<std::uint32_t>(*stag);
    if (!invalidates && *stag != 0) cursor.irregular("reserved here, but not zero");
    if (!invalidates && *stag == 0) cursor.field().value += ": not used";
  }
  decode_queue(cursor, header, kind);
  header.msn = static_cast<std::uint32_t>(cursor.number(Part::kDdp, 4, "MSN").value_or(0));
  const auto mo = cursor.number(Part::kDdp, 4, "MO");
  header.mo = static_cast<std::uint32_t>(mo.value_or(0));
  header.whole = mo.has_value();
}

std::string where(const SegmentHeader& header) {
  if (header.tagged) {
    return "STag " + hex_number(header.stag, 8) + ", TO " + hex_number(header.to, 16);
  }
  const MessageKind* kind = kind_of(header.opcode);
  const bool invalidates = kind != nullptr && kind->invalidates;
  return "QN " + std::to_string(header.qn) + ", MSN " + std::to_string(header.msn) + ", MO " +
         std::to_string(header.mo) +
         (invalidates ? ", invalidates STag " + hex_number(header.stag, 8) : "");
}

// What follows the header: one of RDMAP's own, if it begins in this segment, or the ULP's octets.
std::string decode_message(Cursor& cursor, const SegmentHeader& header) {
  if (!header.tagged && header.mo == 0) {
    switch (header.opcode) {
      case kReadRequest: return decode_read_request(cursor);
      case kTerminate: return decode_terminate(cursor);
      case kAtomicRequest: return decode_atomic_request(cursor);
      case kAtomicResponse: return decode_atomic_response(cursor);
      case kImmediate:
      case kImmediateSolicited: cursor.octets(Part::kPayload, 8, "Immediate Data"); return {};
      default: break;
    }
  }
  cursor.octets(Part::kPayload, cursor.left(), "Payload");
  return {};
}

}  // namespace

SegmentHeader decode_segment_header(Cursor& cursor) {
  SegmentHeader header;
  decode_ddp_control(cursor, header);
  decode_rdmap_control(cursor, header);
  if (header.tagged) {
    decode_tagged(cursor, header);
  } else {
    decode_untagged(cursor, header);
  }
  return header;
}

std::string decode_segment(Cursor& cursor) {
  if (cursor.left() == 0) return "an empty ULPDU";
  const std::size_t size = cursor.left();
  const SegmentHeader header = decode_segment_header(cursor);
  if (!header.whole) return "a ULPDU of " + count_of(size) + ", too short for its header";
  std::string text(name_of(header.opcode));
  text += " (" + where(header) + ", " + count_of(cursor.left()) + (header.last ? ", last)" : ")");
  const std::string message = decode_message(cursor, header);
  cursor.surplus(Part::kUnknown, "more than the message has");
  return message.empty() ? text : text + ": " + message;
}

}  // namespace iwarp::conform
