#include <utility>

#include "iwarp/rdmap/receiver.hpp"

namespace iwarp::rdmap {

Receiver::Step Receiver::on_tagged(const ddp::TaggedSegment& segment) {
  if (const auto error = check_control(segment.header.rsvd_ulp, BufferModel::kTagged)) {
    return failure(Refusal{*error});
  }
  const auto opcode = static_cast<Opcode>(decode_control(segment.header.rsvd_ulp).opcode);
  return opcode == Opcode::kWrite ? on_write(segment) : on_read_response(segment);
}

Receiver::Step Receiver::on_write(const ddp::TaggedSegment& segment) {
  const ddp::TaggedHeader& header = segment.header;
  if (!segment.payload.empty()) {  // STag and TO of an empty one are not looked at (5041 §5.2)
    const auto memory =
        reach_for_peer(header.stag, ddp::Rights::kRemoteWrite, header.to, segment.payload.size());
    if (!memory) return failure(Refusal{memory.error()});
    if (const auto fault = ddp::place(*memory, segment.payload)) {
      memory_fault_ = fault;
      return failure(Refusal{ddp::Error::kMemoryFault});
    }
  }
  write_received_ += static_cast<std::uint32_t>(segment.payload.size());
  if (header.last == ddp::Last::kNo) return Event{Placed{}};
  preceding_write_ = std::exchange(write_received_, 0);
  return Event{PlacedWrite{}};
}

Receiver::Step Receiver::on_read_response(const ddp::TaggedSegment& segment) {
  const OutstandingRequest* read = parts_.reads.due();
  if (read == nullptr || read->owed != Owed::kReadResponse) {
    return failure(Refusal{Error::kUnexpectedOpcode});
  }
  preceding_write_ = 0;
  if (!segment.payload.empty()) {
    if (const auto refusal = place_response(*read, segment)) return failure(*refusal);
  }
  if (segment.header.last == ddp::Last::kNo) return Event{Placed{}};
  if (read_received_ != read->length) return failure(Refusal{Error::kUnspecifiedOperation});
  read_received_ = 0;
  parts_.reads.finish();
  return Event{RequestFinished{}};
}

std::optional<Receiver::Refusal> Receiver::place_response(const OutstandingRequest& read,
                                                          const ddp::TaggedSegment& segment) {
  if (segment.header.stag != read.sink_stag) return ddp::Error::kInvalidStag;
  if (segment.header.to.value() != read_received_ ||
      segment.payload.size() > read.length - read_received_) {
    return ddp::Error::kBoundsViolation;
  }
  const auto placed = ddp::scatter(buffers_, read.sink, read_received_, segment.payload);
  if (!placed) return sink_failed(placed.error());
  read_received_ += static_cast<std::uint32_t>(segment.payload.size());
  return std::nullopt;
}

}  // namespace iwarp::rdmap
