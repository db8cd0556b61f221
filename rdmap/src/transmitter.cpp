#include "iwarp/rdmap/transmitter.hpp"

#include "iwarp/ddp/segmenter.hpp"

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

}  // namespace

Transmitter::Transmitter(const Parts& parts, Rtr rtr) : parts_(parts) { cursor_.rtr = rtr; }

void Transmitter::terminate(const Terminate& message) {
  if (terminating()) return;
  terminate_size_ = message.encode(terminate_.data());
}

std::optional<OutgoingSegment> Transmitter::next(std::size_t mulpdu) {
  if (cursor_.terminated) return std::nullopt;
  if (terminating()) return next_terminate();
  if (cursor_.rtr != Rtr::kNone) return next_rtr();
  if (cursor_.request_open) return next_request(mulpdu);
  if (cursor_.response_open) return next_response(mulpdu);
  const bool response = response_ready();
  if (response && (cursor_.response_turn || !request_ready())) return next_response(mulpdu);
  if (request_ready()) return next_request(mulpdu);
  return std::nullopt;
}

bool Transmitter::response_ready() const { return cursor_.response != parts_.responses.tail(); }

bool Transmitter::request_ready() const {
  if (cursor_.request == parts_.requests.tail()) return false;
  const Request& request = parts_.requests.at(cursor_.request);
  if (request.fence == Fence::kYes && parts_.reads.finished() != cursor_.reads) return false;
  return request.operation != Operation::kRead || parts_.reads.admits(cursor_.reads);
}

Msn Transmitter::take_msn(QueueNumber qn) {
  Msn& msn = cursor_.msn[qn.value()];
  const Msn taken = msn;
  msn = iwarp::next(msn);
  return taken;
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
      parts_.reads.issue(read, 0, {});
      put_read_request(
          segment, {parts_.reads.sink_stag(read), TaggedOffset{0}, 0, Stag{0}, TaggedOffset{0}});
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

void Transmitter::put_read_request(OutgoingSegment& segment, const ReadRequest& request) {
  put(segment, ddp::UntaggedHeader{ddp::Last::kYes, encode_control(Opcode::kReadRequest), 0,
                                   kReadRequestQueueNumber, take_msn(kReadRequestQueueNumber),
                                   MessageOffset{0}});
  request.encode(segment.header.data() + segment.header_size);
  segment.header_size += ReadRequest::kSize;
}

OutgoingSegment Transmitter::next_request(std::size_t mulpdu) {
  const Operation operation = parts_.requests.at(cursor_.request).operation;
  if (operation == Operation::kRead) return next_read_request();
  return operation == Operation::kWrite ? next_write(mulpdu) : next_untagged(mulpdu);
}

OutgoingSegment Transmitter::next_read_request() {
  const std::uint32_t position = cursor_.request++;
  Request& request = parts_.requests.at(position);
  request.read_index = cursor_.reads++;
  parts_.reads.issue(request.read_index, request.length, parts_.requests.sges(position));
  OutgoingSegment segment;
  put_read_request(segment, {parts_.reads.sink_stag(request.read_index), TaggedOffset{0},
                             request.length, request.remote_stag, request.remote_to});
  segment.source = Source::kRequest;
  segment.position = position;
  cursor_.response_turn = true;
  return segment;
}

// Accounts for the octets of `segment`, which belongs to the request under way.
void Transmitter::advance_request(OutgoingSegment& segment, std::uint32_t total) {
  segment.source = Source::kRequest;
  segment.position = cursor_.request;
  segment.offset = cursor_.request_offset;
  cursor_.request_offset += segment.length;
  cursor_.request_open = cursor_.request_offset != total;
  if (cursor_.request_open) return;
  ++cursor_.request;
  cursor_.request_offset = 0;
  cursor_.response_turn = true;
}

OutgoingSegment Transmitter::next_untagged(std::size_t mulpdu) {
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
  const ReadRequest& asked = parts_.responses.at(cursor_.response);
  OutgoingSegment segment;
  segment.source = Source::kResponse;
  segment.position = cursor_.response;
  segment.offset = cursor_.response_offset;
  segment.length =
      ddp::segment_payload(mulpdu, ddp::kTaggedHeaderSize, asked.size - segment.offset);
  const bool last = segment.offset + segment.length == asked.size;
  put(segment, ddp::TaggedHeader{last_if(last), encode_control(Opcode::kReadResponse),
                                 asked.sink_stag, plus(asked.sink_to, segment.offset)});
  cursor_.response_offset = last ? 0 : segment.offset + segment.length;
  cursor_.response_open = !last;
  if (last) {
    ++cursor_.response;
    cursor_.response_turn = false;
  }
  return segment;
}

}  // namespace iwarp::rdmap
