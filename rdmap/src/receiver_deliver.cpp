#include <bit>
#include <utility>

#include "iwarp/rdmap/receiver.hpp"

namespace iwarp::rdmap {

Receiver::Step Receiver::deliver(QueueNumber qn, std::uint32_t length) {
  const OpenMessage& message = open_[qn.value()];
  const ConstBytes octets =
      ConstBytes(control_[qn.value()]).first(qn == kSendQueueNumber ? 0 : length);
  switch (message.opcode) {
    case Opcode::kReadRequest: return deliver_read_request(octets);
    case Opcode::kAtomicRequest: return deliver_atomic_request(octets);
    case Opcode::kAtomicResponse: return deliver_atomic_response(octets);
    case Opcode::kTerminate: return deliver_terminate(octets);
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited: return deliver_immediate(message, length);
    default: return deliver_send(message, length);
  }
}

Receiver::Step Receiver::deliver_send(const OpenMessage& message, std::uint32_t length) {
  const OpcodeTraits& row = traits(message.opcode);
  SendDelivered event{open_receive_->cookie, length, row.solicited, std::nullopt, std::nullopt};
  if (row.invalidates) {
    if (!parts_.stags.invalidate_for_peer(message.invalidate, parts_.accessor)) {
      return failure(Refusal{Error::kCannotInvalidate});
    }
    event.invalidated = message.invalidate;
  }
  preceding_write_ = 0;
  finish_receive();
  return Event{event};
}

void Receiver::finish_receive() {
  open_receive_.reset();
  parts_.receives.finish();
}

// RFC 7306 §6.3: exactly eight octets; more did not fit.
Receiver::Step Receiver::deliver_immediate(const OpenMessage& message, std::uint32_t length) {
  if (length != kImmediateSize) return failure(Refusal{Error::kUnspecifiedOperation});
  const auto immediate = load_be<std::uint64_t>(control_[kSendQueueNumber.value()].data());
  const SendDelivered event{open_receive_->cookie, std::exchange(preceding_write_, 0),
                            traits(message.opcode).solicited, std::nullopt, immediate};
  finish_receive();
  return Event{event};
}

Receiver::Step Receiver::deliver_read_request(ConstBytes octets) {
  const auto request = ReadRequest::parse(octets);
  if (!request) return failure(Refusal{Error::kUnspecifiedOperation});
  if (request->size != 0) {  // an empty Read names nothing (5040 §5.2.1)
    const auto source = reach_for_peer(request->source_stag, ddp::Rights::kRemoteRead,
                                       request->source_to, request->size);
    if (!source) {
      refused_read_ = request;
      return failure(Refusal{protection_error(source.error())});
    }
  }
  preceding_write_ = 0;
  parts_.responses.append(*request);
  return Event{ReadRequestDelivered{}};
}

// RFC 7306 §5.2.1, §8.2. Performed in the order of delivery, before anything that follows.
Receiver::Step Receiver::deliver_atomic_request(ConstBytes octets) {
  const auto request = AtomicRequest::parse(octets);
  if (!request) return failure(Refusal{Error::kUnspecifiedOperation});
  const auto operation = request->operation();
  if (!operation) return failure(Refusal{Error::kUnexpectedOpcode});
  const auto word =
      reach_for_peer(request->stag, ddp::Rights::kRemoteAtomic, request->to, kAtomicSize);
  if (!word) return failure(Refusal{protection_error(word.error())});
  if (std::bit_cast<std::uintptr_t>(*word) % kAtomicSize != 0) {
    return failure(Refusal{Error::kStreamCatastrophic});
  }
  const auto original = perform(*operation, request->operands, *word);
  if (!original) {
    memory_fault_ = original.error();
    return failure(Refusal{protection_error(ddp::Error::kMemoryFault)});
  }
  preceding_write_ = 0;
  parts_.responses.append(AtomicResponse{request->id, *original});
  return Event{AtomicRequestDelivered{}};
}

Receiver::Step Receiver::deliver_atomic_response(ConstBytes octets) {
  const OutstandingRequest& due = *parts_.reads.due();
  const auto response = AtomicResponse::parse(octets);
  if (!response || response->id != due.sink_stag.value()) {
    return failure(Refusal{Error::kUnspecifiedOperation});
  }
  // The program sees the value in the order of its own machine.
  std::array<std::byte, kAtomicSize> word;
  std::memcpy(word.data(), &response->original, kAtomicSize);
  const auto placed = ddp::scatter(buffers_, due.sink, 0, word);
  if (!placed) return failure(sink_failed(placed.error()));
  preceding_write_ = 0;
  parts_.reads.finish();
  return Event{RequestFinished{}};
}

Receiver::Step Receiver::deliver_terminate(ConstBytes octets) {
  const auto message = Terminate::parse(octets);
  if (message) return Event{*message};
  // Too short for what it announces: whatever it meant, the peer has ended the stream.
  Terminate unclear;
  unclear.cause = Terminate::parse_cause(octets).value_or(cause_of(Error::kUnspecifiedOperation));
  return Event{unclear};
}

}  // namespace iwarp::rdmap
