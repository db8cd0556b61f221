#include <algorithm>

#include "iwarp/rdmap/receiver.hpp"

namespace iwarp::rdmap {
namespace {

Opcode opcode_of(const ddp::UntaggedHeader& header) {
  return static_cast<Opcode>(decode_control(header.rsvd_ulp).opcode);
}

bool is_immediate(Opcode opcode) {
  return opcode == Opcode::kImmediate || opcode == Opcode::kImmediateSolicited;
}

}  // namespace

bool Receiver::is_rtr_send(const ddp::UntaggedSegment& segment) const {
  return first_may_be_rtr_ && opcode_of(segment.header) == Opcode::kSend &&
         segment.payload.empty() && segment.header.mo == MessageOffset{0} &&
         segment.header.last == ddp::Last::kYes;
}

Receiver::Step Receiver::on_untagged(const ddp::UntaggedSegment& segment, NoReceive no_receive) {
  if (const auto refusal = check_untagged(segment)) return failure(*refusal);
  const QueueNumber qn = segment.header.qn;
  if (is_rtr_send(segment)) {
    queue(qn).advance(segment.header, 0);
    return Event{ReadyToReceive{}};
  }
  if (!queue(qn).open()) {
    if (const auto error = open_message(segment)) {
      const bool waits = qn == kSendQueueNumber && no_receive == NoReceive::kWait;
      if (waits && *error == ddp::Error::kNoBuffer) return Event{AwaitsReceive{}};
      return failure(Refusal{*error});
    }
  }
  return place_untagged(segment);
}

// By RFC 5041 §7.1 and RFC 5040 §7.2.
std::optional<Receiver::Refusal> Receiver::check_untagged(const ddp::UntaggedSegment& segment) {
  const ddp::UntaggedHeader& header = segment.header;
  if (header.qn.value() >= queue_count(extensions_)) return ddp::Error::kInvalidQueueNumber;
  if (const auto error = check_control(header.rsvd_ulp, BufferModel::kUntagged)) return *error;
  if (traits(opcode_of(header)).qn != header.qn) return Error::kUnexpectedOpcode;
  if (const auto error = queue(header.qn).check_order(header)) return *error;
  return std::nullopt;
}

std::optional<ddp::Error> Receiver::open_message(const ddp::UntaggedSegment& segment) {
  const ddp::UntaggedHeader& header = segment.header;
  const Opcode opcode = opcode_of(header);
  const auto capacity = take_buffer(opcode);
  if (!capacity) return ddp::Error::kNoBuffer;
  open_[header.qn.value()] = {opcode, Stag{header.rsvd_ulp_word}};
  queue(header.qn).open_message(*capacity);
  return std::nullopt;
}

std::optional<std::uint64_t> Receiver::take_buffer(Opcode opcode) {
  switch (opcode) {
    case Opcode::kReadRequest:
      if (!parts_.responses.admits(Owed::kReadResponse)) return std::nullopt;
      return ReadRequest::kSize;
    case Opcode::kAtomicRequest:
      if (!parts_.responses.admits(Owed::kAtomicResponse)) return std::nullopt;
      return AtomicRequest::kSize;
    case Opcode::kAtomicResponse: {
      const OutstandingRequest* due = parts_.reads.due();
      if (due == nullptr || due->owed != Owed::kAtomicResponse) return std::nullopt;
      return AtomicResponse::kSize;
    }
    case Opcode::kTerminate: return kControlRoom;
    default: break;
  }
  open_receive_ = parts_.receives.take();
  if (!open_receive_) return std::nullopt;
  return is_immediate(opcode) ? kImmediateSize : open_receive_->length;
}

// Immediate Data takes a receive, but not its memory.
bool Receiver::fills_receive(QueueNumber qn) const {
  return qn == kSendQueueNumber && !is_immediate(open_[qn.value()].opcode);
}

Receiver::Step Receiver::place_untagged(const ddp::UntaggedSegment& segment) {
  const ddp::UntaggedHeader& header = segment.header;
  ddp::UntaggedQueue& target = queue(header.qn);
  if (const auto error = target.check_fit(header, segment.payload.size())) {
    exceeds_receive_ = *error == ddp::Error::kMessageTooLong && fills_receive(header.qn);
    return failure(Refusal{*error});
  }
  const auto offset = static_cast<std::size_t>(target.placed());
  if (const auto refusal = place_payload(header.qn, offset, segment.payload)) {
    return failure(*refusal);
  }
  target.advance(header, segment.payload.size());
  if (header.last == ddp::Last::kNo) return Event{Placed{}};
  return deliver(header.qn, static_cast<std::uint32_t>(offset + segment.payload.size()));
}

std::optional<Receiver::Refusal> Receiver::place_payload(QueueNumber qn, std::size_t offset,
                                                         ConstBytes payload) {
  if (!fills_receive(qn)) {
    std::copy(payload.begin(), payload.end(), control_[qn.value()].data() + offset);
    return std::nullopt;
  }
  const auto placed = ddp::scatter(buffers_, open_receive_->sges, offset, payload);
  if (placed) return std::nullopt;
  return buffer_failed(placed.error());
}

}  // namespace iwarp::rdmap
