#include <exception>
#include <utility>

#include "soft/qp/halves/receive_half.hpp"

/// What has come, and what follows from it.
namespace iwarp::verbs::soft {
namespace {

using connection::Input;
using connection::LifeEvent;

// How a request ends that the peer answered with a Terminate.
Status status_of(const rdmap::Cause& cause) {
  if (cause == rdmap::cause_of(rdmap::Error::kUnexpectedOpcode)) {
    return Status::kRemoteInvalidRequest;
  }
  const bool access =
      cause.layer == rdmap::Layer::kRdmap && cause.type == rdmap::kTypeRemoteProtection;
  return access ? Status::kRemoteAccessError : Status::kRemoteOperationError;
}

}  // namespace

// What the program is told of is counted before. A responder may send from the first FPDU on.
void ReceiveHalf::on_events(Link& link, const connection::InboundEvents& events) {
  link.received.publish(link.inbound().counters());
  if (events.first) parts_.life.apply(LifeEvent::kFirstFpdu);
  complete(events.deliveries());
  if (events.for_outbound) parts_.wanted.transmit.store(true);
  if (events.fault) return on_fault(*events.fault, events.faulty_read);
  if (events.terminate) on_peer_terminate(*events.terminate, events.terminated_read);
  if (events.first && link.mode.role == Role::kResponder) parts_.wanted.transmit.store(true);
}

// What one of them throws keeps no other from being completed.
void ReceiveHalf::complete(std::span<const rdmap::SendDelivered> deliveries) {
  std::exception_ptr thrown;
  for (const rdmap::SendDelivered& delivered : deliveries) {
    try {
      complete(delivered);
    } catch (const std::exception&) {
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

void ReceiveHalf::complete(const rdmap::SendDelivered& delivered) {
  Completion completion;
  completion.wr_id = delivered.cookie;
  completion.qp_number = parts_.init.number;
  completion.opcode = CompletionOpcode::kReceive;
  completion.byte_length = delivered.length;
  if (delivered.solicited) completion.flags = CompletionFlags::kSolicited;
  if (delivered.invalidated) {
    // Other streams' copies may be under way under the STag; they end before the program hears.
    parts_.memory().await_quiet(*delivered.invalidated);
    completion.flags = completion.flags | CompletionFlags::kInvalidated;
    completion.invalidated = *delivered.invalidated;
  }
  if (delivered.immediate) {
    completion.flags = completion.flags | CompletionFlags::kImmediate;
    completion.immediate = *delivered.immediate;
  }
  if (!parts_.init.recv_cq->push(completion, parts_.receives.places())) {
    parts_.life.lose("the receive completion queue overran");
  }
}

void ReceiveHalf::on_fault(const rdmap::Fault& fault, std::optional<std::uint32_t> faulty_read) {
  const Status of_receive = fault.in_sink           ? Status::kFlushed
                            : fault.local_memory    ? Status::kLocalProtectionError
                            : fault.exceeds_receive ? Status::kLocalLengthError
                                                    : Status::kFlushed;
  if (faulty_read) parts_.blamed_read.blame(*faulty_read, Status::kLocalProtectionError);
  parts_.life.apply(LifeEvent::kInputStopped);  // from here on requests may be flushed
  std::string reason = rdmap::describe(fault.terminate.cause);
  if (fault.memory) reason += ": " + missing_memory(Attempt::kWrite, fault.memory);
  parts_.life.order_terminate(fault.terminate, std::move(reason));
  parts_.wanted.flush.store(true);
  stop_placing();
  if (of_receive != Status::kFlushed) complete_begun(of_receive);
}

// The request that a Terminate names failed at the peer; how the others that are under way ended
// there cannot be told.
void ReceiveHalf::on_peer_terminate(const rdmap::Terminate& message,
                                    std::optional<std::uint32_t> terminated_read) {
  if (terminated_read) parts_.blamed_read.blame(*terminated_read, status_of(message.cause));
  parts_.life.on_peer_terminate(message);
  parts_.life.apply(LifeEvent::kInputStopped);  // from here on requests may be flushed
  parts_.life.apply(LifeEvent::kPeerTerminate);
}

void ReceiveHalf::on_end_of_stream(Link& link, bool inside_fpdu) {
  const bool cut = inside_fpdu && parts_.life.now().input == Input::kOpen;
  if (cut) {
    parts_.life.explain(abortive_end(EndedBy::kPeerFin, EndLayer::kMpa,
                                     "the peer closed the connection inside an FPDU"));
  } else {
    parts_.life.explain(
        graceful_end(EndedBy::kPeerFin, EndLayer::kTcp, "the peer closed the connection"));
  }
  end_input(link, cut ? LifeEvent::kInputLost : LifeEvent::kPeerFin);
}

void ReceiveHalf::on_lost(Link& link, const std::error_code& error) {
  parts_.life.explain(connection_lost(error));
  end_input(link, LifeEvent::kInputLost);
}

// Nothing is read any more, so that no thread is to be woken for it, whatever else goes wrong.
void ReceiveHalf::end_input(Link& link, LifeEvent event) {
  struct Forget {
    const SoftQpInit& init;
    int descriptor;
    ~Forget() {
      init.send_cq->attached().forget_descriptor(descriptor);
      init.recv_cq->attached().forget_descriptor(descriptor);
    }
  };
  const Forget at_the_end{parts_.init, link.stream.descriptor()};
  parts_.life.apply(event);
}

}  // namespace iwarp::verbs::soft
