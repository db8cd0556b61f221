#include "iwarp/ddp/segmenter.hpp"
#include "iwarp/rdmap/transmitter.hpp"

namespace iwarp::rdmap {
namespace {

Opcode opcode_for(Operation operation) {
  switch (operation) {
    case Operation::kSend: return Opcode::kSend;
    case Operation::kSendInvalidate: return Opcode::kSendInvalidate;
    case Operation::kSendSolicited: return Opcode::kSendSolicited;
    case Operation::kSendSolicitedInvalidate: return Opcode::kSendSolicitedInvalidate;
    case Operation::kWrite: return Opcode::kWrite;
    case Operation::kRead: return Opcode::kReadRequest;
    case Operation::kImmediate:
    case Operation::kWriteImmediate: return Opcode::kImmediate;
    case Operation::kImmediateSolicited:
    case Operation::kWriteImmediateSolicited: return Opcode::kImmediateSolicited;
    case Operation::kFetchAdd:
    case Operation::kCmpSwap: return Opcode::kAtomicRequest;
    case Operation::kLocal: break;
  }
  return Opcode::kSend;
}

void put(OutgoingSegment& segment, const ddp::TaggedHeader& header) {
  header.encode(segment.header.data());
  segment.header_size = ddp::kTaggedHeaderSize;
  segment.last = header.last;
}

void put(OutgoingSegment& segment, const ddp::UntaggedHeader& header) {
  header.encode(segment.header.data());
  segment.header_size = ddp::kUntaggedHeaderSize;
  segment.last = header.last;
}

TaggedOffset plus(TaggedOffset to, std::uint32_t offset) {
  return TaggedOffset{to.value() + offset};
}

ddp::Last last_if(bool condition) { return condition ? ddp::Last::kYes : ddp::Last::kNo; }

/// RFC 7306 §6.2: the whole message is eight octets of the program's.
struct ImmediateData {
  static constexpr std::size_t kSize = kImmediateSize;
  std::uint64_t octets;
  void encode(std::byte* at) const { store_be(at, octets); }
};

// By Figure 5 of RFC 7306 a FetchAdd leaves the fields of the comparison at fixed values.
AtomicRequest atomic_request(const Request& request, std::uint32_t id) {
  AtomicRequest message{static_cast<std::uint8_t>(AtomicOpcode::kCmpSwap), id, request.remote_stag,
                        request.remote_to, request.atomic};
  if (request.operation == Operation::kFetchAdd) {
    message.opcode = static_cast<std::uint8_t>(AtomicOpcode::kFetchAdd);
    message.operands.compare = 0;
    message.operands.compare_mask = UINT64_MAX;
  }
  return message;
}

}  // namespace

// A message of one segment, which lies in the header's room as a whole.
template <typename Message>
void Transmitter::put_message(OutgoingSegment& segment, Opcode opcode, const Message& message) {
  const QueueNumber qn = traits(opcode).qn;
  put(segment, ddp::UntaggedHeader{ddp::Last::kYes, encode_control(opcode), 0, qn, take_msn(qn),
                                   MessageOffset{0}});
  message.encode(segment.header.data() + segment.header_size);
  segment.header_size += Message::kSize;
}

OutgoingSegment Transmitter::next_terminate() {
  OutgoingSegment segment;
  put(segment, ddp::UntaggedHeader{ddp::Last::kYes, encode_control(Opcode::kTerminate), 0,
                                   kTerminateQueueNumber, take_msn(kTerminateQueueNumber),
                                   MessageOffset{0}});
  segment.source = Source::kTerminate;
  segment.length = static_cast<std::uint32_t>(terminate_size_);
  cursor_.terminated = true;
  return segment;
}

// RFC 6581 §9.2: an empty message of the negotiated kind. Its STag and TO mean nothing.
OutgoingSegment Transmitter::next_rtr() {
  OutgoingSegment segment;
  switch (std::exchange(cursor_.rtr, Rtr::kNone)) {
    case Rtr::kSend:
      put(segment,
          ddp::UntaggedHeader{ddp::Last::kYes, encode_control(Opcode::kSend), 0, kSendQueueNumber,
                              take_msn(kSendQueueNumber), MessageOffset{0}});
      break;
    case Rtr::kRead: {
      const std::uint32_t read = cursor_.reads++;
      parts_.reads.issue(read, Owed::kReadResponse, 0, {});
      put_message(
          segment, Opcode::kReadRequest,
          ReadRequest{parts_.reads.sink_stag(read), TaggedOffset{0}, 0, Stag{0}, TaggedOffset{0}});
      break;
    }
    case Rtr::kWrite:
    case Rtr::kNone:
      put(segment, ddp::TaggedHeader{ddp::Last::kYes, encode_control(Opcode::kWrite), Stag{0},
                                     TaggedOffset{0}});
      break;
  }
  return segment;
}

OutgoingSegment Transmitter::next_request(std::size_t mulpdu) {
  switch (parts_.requests.at(cursor_.request).operation) {
    case Operation::kRead: return next_read_request();
    case Operation::kFetchAdd:
    case Operation::kCmpSwap: return next_atomic_request();
    case Operation::kWrite: return next_write(mulpdu);
    case Operation::kWriteImmediate:
    case Operation::kWriteImmediateSolicited: return next_write_immediate(mulpdu);
    case Operation::kImmediate:
    case Operation::kImmediateSolicited: return next_immediate();
    default: return next_send(mulpdu);
  }
}

// Enters the request at `position` among those that await a response; returns its place there.
std::uint32_t Transmitter::issue(std::uint32_t position, Owed owed) {
  Request& request = parts_.requests.at(position);
  request.read_index = cursor_.reads++;
  parts_.reads.issue(request.read_index, owed, request.length, parts_.requests.sges(position));
  return request.read_index;
}

OutgoingSegment Transmitter::next_read_request() {
  const Request& request = parts_.requests.at(cursor_.request);
  const std::uint32_t read = issue(cursor_.request, Owed::kReadResponse);
  OutgoingSegment segment;
  put_message(segment, Opcode::kReadRequest,
              ReadRequest{parts_.reads.sink_stag(read), TaggedOffset{0}, request.length,
                          request.remote_stag, request.remote_to});
  close_request(segment);
  return segment;
}

OutgoingSegment Transmitter::next_atomic_request() {
  const Request& request = parts_.requests.at(cursor_.request);
  const std::uint32_t index = issue(cursor_.request, Owed::kAtomicResponse);
  OutgoingSegment segment;
  put_message(segment, Opcode::kAtomicRequest,
              atomic_request(request, parts_.reads.sink_stag(index).value()));
  close_request(segment);
  return segment;
}

// Both messages leave without anything between them.
OutgoingSegment Transmitter::next_write_immediate(std::size_t mulpdu) {
  const Request& request = parts_.requests.at(cursor_.request);
  if (request.length == 0 || cursor_.write_done) return next_immediate();
  OutgoingSegment segment = next_write(mulpdu);
  if (segment.closes_request) {  // not yet: the immediate data is still to come
    segment.closes_request = false;
    cursor_.request = segment.position;
    cursor_.request_open = true;
    cursor_.write_done = true;
  }
  return segment;
}

OutgoingSegment Transmitter::next_immediate() {
  const Request& request = parts_.requests.at(cursor_.request);
  OutgoingSegment segment;
  put_message(segment, opcode_for(request.operation), ImmediateData{request.immediate});
  cursor_.write_done = false;
  close_request(segment);
  return segment;
}

OutgoingSegment Transmitter::next_send(std::size_t mulpdu) {
  const Request& request = parts_.requests.at(cursor_.request);
  const Opcode opcode = opcode_for(request.operation);
  const std::uint32_t offset = cursor_.request_offset;
  const std::uint32_t payload =
      ddp::segment_payload(mulpdu, ddp::kUntaggedHeaderSize, request.length - offset);
  const bool last = offset + payload == request.length;
  Msn& msn = cursor_.msn[kSendQueueNumber.value()];
  OutgoingSegment segment;
  put(segment, ddp::UntaggedHeader{last_if(last), encode_control(opcode),
                                   traits(opcode).invalidates ? request.invalidate.value() : 0U,
                                   kSendQueueNumber, msn, MessageOffset{offset}});
  if (last) msn = iwarp::next(msn);
  segment.length = payload;
  advance_request(segment, request.length);
  return segment;
}

OutgoingSegment Transmitter::next_write(std::size_t mulpdu) {
  const Request& request = parts_.requests.at(cursor_.request);
  const std::uint32_t offset = cursor_.request_offset;
  const std::uint32_t payload =
      ddp::segment_payload(mulpdu, ddp::kTaggedHeaderSize, request.length - offset);
  OutgoingSegment segment;
  put(segment,
      ddp::TaggedHeader{last_if(offset + payload == request.length), encode_control(Opcode::kWrite),
                        request.remote_stag, plus(request.remote_to, offset)});
  segment.length = payload;
  advance_request(segment, request.length);
  return segment;
}

OutgoingSegment Transmitter::next_response(std::size_t mulpdu) {
  const bool atomic = parts_.responses.at(cursor_.response).owed == Owed::kAtomicResponse;
  return atomic ? next_atomic_response() : next_read_response(mulpdu);
}

OutgoingSegment Transmitter::next_read_response(std::size_t mulpdu) {
  const ReadRequest& asked = parts_.responses.at(cursor_.response).read;
  OutgoingSegment segment;
  segment.source = Source::kResponse;
  segment.position = cursor_.response;
  segment.offset = cursor_.response_offset;
  segment.length =
      ddp::segment_payload(mulpdu, ddp::kTaggedHeaderSize, asked.size - segment.offset);
  const bool last = segment.offset + segment.length == asked.size;
  put(segment, ddp::TaggedHeader{last_if(last), encode_control(Opcode::kReadResponse),
                                 asked.sink_stag, plus(asked.sink_to, segment.offset)});
  cursor_.response_offset = segment.offset + segment.length;
  cursor_.response_open = !last;
  if (last) close_response();
  return segment;
}

OutgoingSegment Transmitter::next_atomic_response() {
  OutgoingSegment segment;
  segment.source = Source::kResponse;
  segment.position = cursor_.response;
  put_message(segment, Opcode::kAtomicResponse, parts_.responses.at(cursor_.response).atomic);
  close_response();
  return segment;
}

}  // namespace iwarp::rdmap
