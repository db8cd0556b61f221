#include "iwarp/rdmap/transmitter.hpp"

namespace iwarp::rdmap {

Transmitter::Transmitter(const Parts& parts, Rtr rtr) : parts_(parts) { cursor_.rtr = rtr; }

void Transmitter::terminate(const Terminate& message) {
  if (terminating()) return;
  terminate_size_ = message.encode(terminate_.data());
}

bool Transmitter::ready() const {
  if (cursor_.terminated) return false;
  const bool begun =
      terminating() || cursor_.rtr != Rtr::kNone || cursor_.request_open || cursor_.response_open;
  return begun || response_ready() || request_ready();
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

std::uint32_t Transmitter::alike(const OutgoingSegment& segment) const {
  const bool in_request = segment.source == Source::kRequest;
  const bool in_message = in_request || segment.source == Source::kResponse;
  if (!in_message || segment.length == 0 || segment.last == ddp::Last::kYes) return 0;
  const std::uint32_t total = in_request ? parts_.requests.at(segment.position).length
                                         : parts_.responses.at(segment.position).read.size;
  return (total - (segment.offset + segment.length) - 1) / segment.length;
}

Transmitter::Cursor Transmitter::behind(Cursor cursor, Source source, std::uint32_t octets) {
  if (source == Source::kRequest) {
    cursor.request_offset += octets;
    cursor.request_open = true;
  } else {
    cursor.response_offset += octets;
    cursor.response_open = true;
  }
  return cursor;
}

bool Transmitter::begins_row(const OutgoingSegment& segment) const {
  if (!segment.closes_request || segment.offset != 0 || response_ready()) return false;
  const Operation operation = parts_.requests.at(segment.position).operation;
  return operation == Operation::kWrite || operation == Operation::kSend ||
         operation == Operation::kSendSolicited;
}

bool Transmitter::follow(OutgoingSegment& segment) const {
  const std::uint32_t behind = segment.position + 1U;
  if (behind == parts_.requests.tail()) return false;
  const Request& before = parts_.requests.at(segment.position);
  const Request& request = parts_.requests.at(behind);
  const bool alike = request.operation == before.operation && request.length == before.length &&
                     request.payload_in == before.payload_in && request.fence == Fence::kNo;
  if (!alike) return false;
  segment.position = behind;
  if (segment.is_numbered()) {
    ddp::advance_message(segment.header.data());
  } else {
    ddp::aim(segment.header.data(), request.remote_stag, request.remote_to);
  }
  return true;
}

Transmitter::Cursor Transmitter::behind_messages(Cursor cursor, bool numbered,
                                                 std::uint32_t count) {
  cursor.request += count;
  cursor.response_turn = true;
  Msn& msn = cursor.msn[kSendQueueNumber.value()];
  if (numbered) msn = Msn{msn.value() + count};
  return cursor;
}

bool Transmitter::response_ready() const { return cursor_.response != parts_.responses.tail(); }

bool Transmitter::request_ready() const {
  if (cursor_.request == parts_.requests.tail()) return false;
  const Request& request = parts_.requests.at(cursor_.request);
  if (request.operation == Operation::kLocal || fence_holds(request)) return false;
  return !awaits_response(request.operation) || parts_.reads.admits(cursor_.reads);
}

bool Transmitter::local_due() const {
  if (cursor_.rtr != Rtr::kNone || terminating()) return false;
  if (cursor_.request == parts_.requests.tail()) return false;
  const Request& request = parts_.requests.at(cursor_.request);
  return request.operation == Operation::kLocal && !fence_holds(request);
}

bool Transmitter::fence_holds(const Request& request) const {
  return request.fence == Fence::kYes && parts_.reads.finished() != cursor_.reads;
}

Msn Transmitter::take_msn(QueueNumber qn) {
  Msn& msn = cursor_.msn[qn.value()];
  const Msn taken = msn;
  msn = iwarp::next(msn);
  return taken;
}

// Accounts for the octets of `segment`, which belongs to the request under way.
void Transmitter::advance_request(OutgoingSegment& segment, std::uint32_t total) {
  segment.source = Source::kRequest;
  segment.position = cursor_.request;
  segment.offset = cursor_.request_offset;
  cursor_.request_offset += segment.length;
  cursor_.request_open = cursor_.request_offset != total;
  if (!cursor_.request_open) close_request(segment);
}

// `segment` is the last of the request under way.
void Transmitter::close_request(OutgoingSegment& segment) {
  segment.source = Source::kRequest;
  segment.position = cursor_.request++;
  segment.closes_request = true;
  cursor_.request_open = false;
  cursor_.request_offset = 0;
  cursor_.response_turn = true;
}

void Transmitter::close_response() {
  ++cursor_.response;
  cursor_.response_offset = 0;
  cursor_.response_open = false;
  cursor_.response_turn = false;
}

}  // namespace iwarp::rdmap
