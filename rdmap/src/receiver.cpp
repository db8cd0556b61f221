#include "iwarp/rdmap/receiver.hpp"

#include <algorithm>

namespace iwarp::rdmap {
namespace {

// The refusal of what the control field says about a message, by RFC 5040 §7.2.
std::optional<Error> check_control(std::uint8_t rsvd_ulp, BufferModel model) {
  const Control control = decode_control(rsvd_ulp);
  if (control.version != 1) return Error::kInvalidVersion;
  const OpcodeTraits* row = traits(control.opcode);
  if (row == nullptr || row->model != model) return Error::kUnexpectedOpcode;
  return std::nullopt;
}

Opcode opcode_of(std::uint8_t rsvd_ulp) {
  return static_cast<Opcode>(decode_control(rsvd_ulp).opcode);
}

}  // namespace

Receiver::Receiver(const Parts& parts, FirstMessage first)
    : parts_(parts), first_may_be_rtr_(first == FirstMessage::kMayBeRtrSend) {}

Result<Event, Fault> Receiver::on_ulpdu(ConstBytes ulpdu) {
  if (ended_) return Event{Placed{}};
  Step step = dispatch(ulpdu);
  first_may_be_rtr_ = false;
  if (!step) {
    ended_ = true;
    return failure(fault(step.error(), ulpdu));
  }
  ended_ = std::holds_alternative<Terminate>(*step);
  return std::move(step).value();
}

std::optional<ReceiveBuffer> Receiver::abandon() {
  ended_ = true;
  return std::exchange(open_receive_, std::nullopt);
}

Fault Receiver::fault(const Refusal& refusal, ConstBytes ulpdu) {
  const Cause cause = std::visit([](auto error) { return cause_of(error); }, refusal);
  Fault result{terminate_for(cause, ulpdu), local_memory_, in_read_sink_};
  // The request may have come in several segments, of which the last is not the whole.
  if (refused_read_) result.terminate.read_request = refused_read_;
  return result;
}

Receiver::Step Receiver::dispatch(ConstBytes ulpdu) {
  const auto segment = ddp::parse(ulpdu);
  if (!segment) {
    if (segment.error() == ddp::Error::kTruncatedHeader) {
      return failure(Refusal{Error::kStreamCatastrophic});
    }
    return failure(Refusal{segment.error()});
  }
  if (const auto* tagged = std::get_if<ddp::TaggedSegment>(&*segment)) return on_tagged(*tagged);
  return on_untagged(std::get<ddp::UntaggedSegment>(*segment));
}

Receiver::Step Receiver::on_tagged(const ddp::TaggedSegment& segment) {
  if (const auto error = check_control(segment.header.rsvd_ulp, BufferModel::kTagged)) {
    return failure(Refusal{*error});
  }
  if (opcode_of(segment.header.rsvd_ulp) == Opcode::kWrite) return on_write(segment);
  return on_read_response(segment);
}

Receiver::Step Receiver::on_write(const ddp::TaggedSegment& segment) {
  const ddp::TaggedHeader& header = segment.header;
  if (!segment.payload.empty()) {  // STag and TO of an empty one are not looked at (5041 §5.2)
    const auto pin = parts_.stags.pin(header.stag, parts_.pd, ddp::Rights::kRemoteWrite, header.to,
                                      segment.payload.size());
    if (!pin) return failure(Refusal{pin.error()});
    ddp::place(pin->memory(), segment.payload);
  }
  return header.last == ddp::Last::kYes ? Event{PlacedWrite{}} : Event{Placed{}};
}

Receiver::Step Receiver::on_read_response(const ddp::TaggedSegment& segment) {
  const ddp::TaggedHeader& header = segment.header;
  const OutstandingRead* read = parts_.reads.due();
  if (read == nullptr) return failure(Refusal{Error::kUnexpectedOpcode});
  if (!segment.payload.empty()) {
    if (header.stag != read->sink_stag) return failure(Refusal{ddp::Error::kInvalidStag});
    if (header.to.value() != read_received_ ||
        segment.payload.size() > read->length - read_received_) {
      return failure(Refusal{ddp::Error::kBoundsViolation});
    }
    const auto placed =
        ddp::scatter(parts_.stags, parts_.pd, read->sink, read_received_, segment.payload);
    if (!placed) {
      local_memory_ = placed.error();
      in_read_sink_ = true;
      return failure(Refusal{Error::kLocalCatastrophic});
    }
    read_received_ += static_cast<std::uint32_t>(segment.payload.size());
  }
  if (header.last == ddp::Last::kNo) return Event{Placed{}};
  if (read_received_ != read->length) return failure(Refusal{Error::kUnspecifiedOperation});
  read_received_ = 0;
  parts_.reads.finish();
  return Event{ReadFinished{}};
}

bool Receiver::is_rtr_send(const ddp::UntaggedSegment& segment) const {
  return first_may_be_rtr_ && opcode_of(segment.header.rsvd_ulp) == Opcode::kSend &&
         segment.payload.empty() && segment.header.last == ddp::Last::kYes;
}

Receiver::Step Receiver::on_untagged(const ddp::UntaggedSegment& segment) {
  const ddp::UntaggedHeader& header = segment.header;
  if (header.qn.value() >= kQueueCount) {
    return failure(Refusal{ddp::Error::kInvalidQueueNumber});
  }
  if (const auto error = check_control(header.rsvd_ulp, BufferModel::kUntagged)) {
    return failure(Refusal{*error});
  }
  if (traits(opcode_of(header.rsvd_ulp)).qn != header.qn) {
    return failure(Refusal{Error::kUnexpectedOpcode});
  }
  if (const auto error = queue(header.qn).check_order(header)) return failure(Refusal{*error});
  if (is_rtr_send(segment)) {
    queue(header.qn).advance(header, 0);
    return Event{ReadyToReceive{}};
  }
  if (!queue(header.qn).open()) {
    if (const auto error = open_message(segment)) return failure(Refusal{*error});
  }
  return place_untagged(segment);
}

std::optional<ddp::Error> Receiver::open_message(const ddp::UntaggedSegment& segment) {
  const QueueNumber qn = segment.header.qn;
  std::uint64_t capacity = kTerminateRoom;
  if (qn == kSendQueueNumber) {
    open_receive_ = parts_.receives.take();
    if (!open_receive_) return ddp::Error::kNoBuffer;
    capacity = open_receive_->length;
  } else if (qn == kReadRequestQueueNumber) {
    if (!parts_.responses.admits()) return ddp::Error::kNoBuffer;
    capacity = ReadRequest::kSize;
  }
  queue(qn).open_message(capacity);
  return std::nullopt;
}

Receiver::Step Receiver::place_untagged(const ddp::UntaggedSegment& segment) {
  const ddp::UntaggedHeader& header = segment.header;
  ddp::UntaggedQueue& target = queue(header.qn);
  if (const auto error = target.check_fit(header, segment.payload.size())) {
    return failure(Refusal{*error});
  }
  const auto offset = static_cast<std::size_t>(target.placed());
  if (header.qn == kSendQueueNumber) {
    const auto placed =
        ddp::scatter(parts_.stags, parts_.pd, open_receive_->sges, offset, segment.payload);
    if (!placed) {
      local_memory_ = placed.error();
      return failure(Refusal{Error::kLocalCatastrophic});
    }
  } else {
    std::byte* room =
        header.qn == kReadRequestQueueNumber ? read_request_.data() : terminate_.data();
    std::copy(segment.payload.begin(), segment.payload.end(), room + offset);
  }
  target.advance(header, segment.payload.size());
  if (header.last == ddp::Last::kNo) return Event{Placed{}};
  return deliver(segment, static_cast<std::uint32_t>(offset + segment.payload.size()));
}

Receiver::Step Receiver::deliver(const ddp::UntaggedSegment& segment, std::uint32_t length) {
  if (segment.header.qn == kSendQueueNumber) return deliver_send(segment.header, length);
  if (segment.header.qn == kReadRequestQueueNumber) return deliver_read_request(length);
  return deliver_terminate(length);
}

Receiver::Step Receiver::deliver_send(const ddp::UntaggedHeader& header, std::uint32_t length) {
  const OpcodeTraits& row = traits(opcode_of(header.rsvd_ulp));
  SendDelivered event{open_receive_->cookie, length, row.solicited, std::nullopt};
  if (row.invalidates) {
    const Stag stag{header.rsvd_ulp_word};
    if (!parts_.stags.invalidate_for_peer(stag, parts_.pd)) {
      return failure(Refusal{Error::kCannotInvalidate});
    }
    event.invalidated = stag;
  }
  open_receive_.reset();
  return Event{event};
}

Receiver::Step Receiver::deliver_read_request(std::uint32_t length) {
  const auto request = ReadRequest::parse(ConstBytes(read_request_).first(length));
  if (!request) return failure(Refusal{Error::kUnspecifiedOperation});
  if (request->size != 0) {  // an empty Read names nothing (5040 §5.2.1)
    const auto pin = parts_.stags.pin(request->source_stag, parts_.pd, ddp::Rights::kRemoteRead,
                                      request->source_to, request->size);
    if (!pin) {
      refused_read_ = request;
      return failure(Refusal{protection_error(pin.error())});
    }
  }
  parts_.responses.append(*request);
  return Event{ReadRequestDelivered{}};
}

Receiver::Step Receiver::deliver_terminate(std::uint32_t length) {
  const auto message = Terminate::parse(ConstBytes(terminate_).first(length));
  if (message) return Event{*message};
  // Too short for what it announces: whatever it meant, the peer has ended the stream.
  Terminate unclear;
  unclear.cause = Terminate::parse_cause(ConstBytes(terminate_).first(length))
                      .value_or(cause_of(Error::kUnspecifiedOperation));
  return Event{unclear};
}

}  // namespace iwarp::rdmap
