#include "decode/layers.hpp"
#include "wire/rdmap.hpp"

/// The headers behind the DDP header: RFC 5040 §4.4 and §4.8, RFC 7306 §5.2.
namespace iwarp::conform {
namespace {

constexpr std::uint64_t kSegmentLengthValid = 0x8000, kDdpHeaderIncluded = 0x4000,
                        kRdmaHeaderIncluded = 0x2000, kTerminateReserved = 0x1FFF;

std::uint32_t low(std::optional<std::uint64_t> number) {
  return static_cast<std::uint32_t>(number.value_or(0));
}

void decode_terminate_control(Cursor& cursor, Cause& cause, std::uint64_t& header_control) {
  constexpr std::size_t kControlSize = 4;
  if (cursor.left() >= 2) {
    const OctetView rest = cursor.rest();
    cause = {static_cast<std::uint8_t>(rest[0] >> 4), static_cast<std::uint8_t>(rest[0] & 0x0F),
             rest[1]};
  }
  cursor.begin_group(Part::kRdmap, kControlSize, "Terminate Control",
                     cursor.left() >= 2 ? describe(cause) : "");
  if (const auto octet = cursor.hex(Part::kRdmap, 1, "Layer, EType")) {
    cursor.bits(8, *octet, 0xF0, "Layer");
    cursor.bits(8, *octet, 0x0F, "EType");
    cursor.hex(Part::kRdmap, 1, "Error Code");
  }
  if (const auto control = cursor.hex(Part::kRdmap, 2, "HdrCt")) {
    header_control = *control;
    const auto flag = [&](std::uint64_t mask, std::string_view name, std::string_view what) {
      const bool on = cursor.bits(16, *control, mask, name) != 0;
      cursor.says((on ? "1: " : "0: no ") + std::string(what));
    };
    flag(kSegmentLengthValid, "M", "valid DDP Segment Length");
    flag(kDdpHeaderIncluded, "D", "Terminated DDP Header");
    flag(kRdmaHeaderIncluded, "R", "Terminated RDMA Header");
    if (cursor.bits(16, *control, kTerminateReserved, "Reserved") != 0) {
      cursor.irregular("not zero");
    }
  }
  cursor.end_group();
}

// Atomic Requests came with RFC 7306, which says no more than that they are no Read Requests: what
// an implementation sends back is shown as what it was.
void decode_terminated_rdma_header(Cursor& cursor, std::optional<std::uint8_t> opcode) {
  const bool atomic = opcode == kAtomicRequest;
  const std::size_t size = atomic ? AtomicRequest::kSize : ReadRequest::kSize;
  cursor.begin_group(Part::kRdmap, size, "Terminated RDMA Header",
                     atomic ? "Atomic Request" : "RDMA Read Request");
  atomic ? decode_atomic_request(cursor) : decode_read_request(cursor);
  cursor.end_group();
}

}  // namespace

std::string decode_read_request(Cursor& cursor) {
  const auto sink = cursor.hex(Part::kRdmap, 4, "Data Sink STag");
  const auto sink_to = cursor.hex(Part::kRdmap, 8, "Data Sink Tagged Offset");
  const auto size = cursor.number(Part::kRdmap, 4, "RDMA Read Message Size");
  const auto source = cursor.hex(Part::kRdmap, 4, "Data Source STag");
  const auto source_to = cursor.hex(Part::kRdmap, 8, "Data Source Tagged Offset");
  if (!source_to) return "cut off";
  return count_of(*size) + " of STag " + hex_number(low(source), 8) + ", TO " +
         hex_number(*source_to, 16) + " into STag " + hex_number(low(sink), 8) + ", TO " +
         hex_number(*sink_to, 16);
}

std::string decode_atomic_request(Cursor& cursor) {
  std::string name = "unknown operation";
  if (const auto word = cursor.hex(Part::kRdmap, 4, "Reserved, AOpCode")) {
    if (cursor.bits(32, *word, 0xFFFFFFF0, "Reserved") != 0) cursor.irregular("not zero");
    const auto code = cursor.bits(32, *word, 0x0F, "AOpCode");
    if (code == kFetchAdd) name = "FetchAdd";
    if (code == kCmpSwap) name = "CmpSwap";
    cursor.field().value += ": " + name;
    if (code != kFetchAdd && code != kCmpSwap) cursor.irregular("no operation has it");
  }
  cursor.hex(Part::kRdmap, 4, "Request Identifier");
  const auto stag = cursor.hex(Part::kRdmap, 4, "Remote STag");
  const auto to = cursor.hex(Part::kRdmap, 8, "Remote Tagged Offset");
  cursor.hex(Part::kRdmap, 8, "Add or Swap Data");
  cursor.hex(Part::kRdmap, 8, "Add or Swap Mask");
  cursor.hex(Part::kRdmap, 8, "Compare Data");
  if (!cursor.hex(Part::kRdmap, 8, "Compare Mask")) return name + ", cut off";
  return name + " at STag " + hex_number(low(stag), 8) + ", TO " + hex_number(*to, 16);
}

std::string decode_atomic_response(Cursor& cursor) {
  cursor.hex(Part::kRdmap, 4, "Original Request Identifier");
  const auto value = cursor.hex(Part::kRdmap, 8, "Original Remote Data Value");
  return value ? "the value was " + hex_number(*value, 16) : "cut off";
}

std::string decode_terminate(Cursor& cursor) {
  const bool whole = cursor.left() >= 4;
  Cause cause;
  std::uint64_t control = 0;
  decode_terminate_control(cursor, cause, control);
  if ((control & (kSegmentLengthValid | kDdpHeaderIncluded)) != 0) {
    if (cursor.left() == 0) cursor.lacks("but there is no DDP Segment Length");
    cursor.number(Part::kRdmap, 2, "DDP Segment Length");
  }
  cursor.judge(false);
  std::optional<std::uint8_t> opcode;
  if ((control & kDdpHeaderIncluded) != 0) {
    const bool tagged = cursor.left() > 0 && (cursor.rest()[0] & kTagged) != 0;
    const std::size_t size = tagged ? kTaggedHeaderSize : kUntaggedHeaderSize;
    cursor.begin_group(Part::kRdmap, size, "Terminated DDP Header", "");
    const SegmentHeader header = decode_segment_header(cursor);
    if (header.whole) opcode = header.opcode;
    cursor.end_group();
  }
  if ((control & kRdmaHeaderIncluded) != 0) decode_terminated_rdma_header(cursor, opcode);
  cursor.judge(true);
  cursor.surplus(Part::kUnknown, "the header control bits announce nothing more");
  return whole ? describe(cause) : "cut off";
}

}  // namespace iwarp::conform
