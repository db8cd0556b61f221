#include "iwarp/rdmap/receiver.hpp"

namespace iwarp::rdmap {

Receiver::Receiver(const Parts& parts, FirstMessage first, Extensions extensions)
    : parts_(parts),
      buffers_(parts.stags, parts.accessor),
      extensions_(extensions),
      first_may_be_rtr_(first == FirstMessage::kMayBeRtrSend) {}

Result<Event, Fault> Receiver::on_ulpdu(ConstBytes ulpdu, NoReceive no_receive) {
  if (ended_) return Event{Placed{}};
  Step step = dispatch(ulpdu, no_receive);
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
  Fault result{terminate_for(cause, ulpdu), local_memory_, in_sink_, exceeds_receive_,
               memory_fault_};
  // The request may have come in several segments, of which the last is not the whole.
  if (refused_read_) result.terminate.read_request = refused_read_;
  return result;
}

// A buffer that the program has named: none of the peer's business.
Receiver::Refusal Receiver::buffer_failed(const ddp::PlacementError& error) {
  local_memory_ = error.error;
  if (error.error == ddp::Error::kMemoryFault) memory_fault_ = error.fault;
  return Error::kLocalCatastrophic;
}

Receiver::Refusal Receiver::sink_failed(const ddp::PlacementError& error) {
  in_sink_ = true;
  return buffer_failed(error);
}

Receiver::Step Receiver::dispatch(ConstBytes ulpdu, NoReceive no_receive) {
  const auto segment = ddp::parse(ulpdu);
  if (!segment) {
    if (segment.error() == ddp::Error::kTruncatedHeader) {
      return failure(Refusal{Error::kStreamCatastrophic});
    }
    return failure(Refusal{segment.error()});
  }
  if (const auto* tagged = std::get_if<ddp::TaggedSegment>(&*segment)) return on_tagged(*tagged);
  return on_untagged(std::get<ddp::UntaggedSegment>(*segment), no_receive);
}

Result<std::byte*, ddp::Error> Receiver::reach_for_peer(Stag stag, ddp::Rights wanted,
                                                        TaggedOffset to, std::uint64_t length) {
  const auto memory = buffers_.reach(stag, wanted, to, length);
  const bool allowed =
      parts_.allowed == nullptr || has(parts_.allowed->load(std::memory_order_relaxed), wanted);
  if (memory && !allowed) return failure(ddp::Error::kAccessViolation);
  return memory;
}

// The refusal of what the control field says about a message, by RFC 5040 §7.2.
std::optional<Error> Receiver::check_control(std::uint8_t rsvd_ulp, BufferModel model) const {
  const Control control = decode_control(rsvd_ulp);
  if (control.version != 1) return Error::kInvalidVersion;
  const OpcodeTraits* row = traits(control.opcode, extensions_);
  if (row == nullptr || row->model != model) return Error::kUnexpectedOpcode;
  return std::nullopt;
}

}  // namespace iwarp::rdmap
