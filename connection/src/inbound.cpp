#include "iwarp/connection/inbound.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/ddp/header.hpp"

namespace iwarp::connection {

Inbound::Inbound(const rdmap::Receiver::Parts& parts, const Settings& settings)
    : reads_(parts.reads),
      ord_(settings.ord),
      expects_rtr_(settings.first == rdmap::FirstMessage::kMayBeRtrSend),
      receive_wait_(settings.receive_wait),
      deframer_(settings.crc, settings.markers),
      receiver_(parts, settings.first, settings.extensions) {}

// ---- Octets ----

Taken Inbound::take(MutableBytes octets, const InboundLimits& limits, InboundEvents& events) {
  const rdmap::Receiver::Turn turn(receiver_);
  const std::size_t size = octets.size();
  InboundStop why = InboundStop::kNeedsMore;
  while (!ended_ && !awaits_receive() && !events.full()) {
    const mpa::Deframed next = deframer_.next(octets);
    if (std::holds_alternative<mpa::NeedMore>(next)) break;
    if (const auto* error = std::get_if<mpa::Error>(&next)) {
      refuse(*error, events);
      break;
    }
    const auto& fpdu = std::get<mpa::Fpdu>(next);
    on_ulpdu(fpdu.ulpdu, limits, events);
    octets = octets.subspan(fpdu.wire_size);
  }
  if (events.full()) why = InboundStop::kEventsFull;
  if (awaits_receive()) why = InboundStop::kAwaitsReceive;
  if (ended_) {
    why = InboundStop::kEnded;
    octets = {};
  }
  const std::size_t taken = size - octets.size();
  counters_.octets += taken;
  moved_ -= std::min(moved_, taken);
  return {taken, why};
}

void Inbound::refuse(mpa::Error error, InboundEvents& events) {
  if (ended_) return;
  rdmap::Fault fault;
  fault.terminate.cause = rdmap::cause_of_llp(mpa::terminate_code(error));
  on_fault(fault, events);
}

InboundStop Inbound::resume(const InboundLimits& limits, InboundEvents& events) {
  if (awaits_receive() && !offer_waiting(limits, events)) return InboundStop::kAwaitsReceive;
  const Taken taken = take(kept_.octets(), limits, events);
  kept_.drop_front(taken.octets);
  note_kept(limits.now);
  return taken.why;
}

void Inbound::keep(ConstBytes rest, ConstBytes behind, Time now) {
  if (ended_) {
    counters_.octets += rest.size() + behind.size();
    rest = behind = {};
  }
  kept_.assign(rest, behind);
  moved_ = 0;
  note_kept(now);
}

// Half an FPDU has its time from its first octet on.
void Inbound::note_kept(Time now) {
  const bool fresh = std::exchange(progress_, false) || !half_;
  half_ = kept_.size() != 0;
  if (fresh) half_since_ = now;
}

void Inbound::move_kept(std::byte* to) {
  std::ranges::copy(kept_.octets(), to);
  moved_ = kept_.size();
  kept_.clear();
}

// Behind a message that waits for a receive there may be more than a half, and there is no hurry.
std::optional<HalfFpdu> Inbound::half_fpdu() const {
  if (kept_.size() == 0 || awaits_receive()) return std::nullopt;
  return HalfFpdu{half_since_, kept_.size()};
}

InboundCounters Inbound::counters() const {
  InboundCounters counters = counters_;
  counters.octets += kept_.size() + moved_;
  return counters;
}

// ---- Messages ----

void Inbound::on_ulpdu(ConstBytes ulpdu, const InboundLimits& limits, InboundEvents& events) {
  progress_ = true;
  if (++counters_.fpdus == 1) events.first = true;
  const bool waits = receive_wait_.count() != 0 && limits.may_wait;
  const auto event =
      receiver_.on_ulpdu(ulpdu, waits ? rdmap::NoReceive::kWait : rdmap::NoReceive::kFault);
  if (!event) return on_fault(event.error(), events);
  if (std::holds_alternative<rdmap::AwaitsReceive>(*event)) {
    waiting_.assign(ulpdu.begin(), ulpdu.end());
    waits_until_ = limits.now + receive_wait_;
  } else {
    on_event(*event, events);
  }
}

bool Inbound::offer_waiting(const InboundLimits& limits, InboundEvents& events) {
  const rdmap::Receiver::Turn turn(receiver_);
  const bool late = limits.now >= waits_until_;
  const auto event =
      receiver_.on_ulpdu(waiting_, late ? rdmap::NoReceive::kFault : rdmap::NoReceive::kWait);
  if (event && std::holds_alternative<rdmap::AwaitsReceive>(*event)) return false;
  waiting_ = std::vector<std::byte>();
  progress_ = true;
  if (event) {
    on_event(*event, events);
  } else {
    on_fault(event.error(), events);
  }
  return true;
}

// The peer's RTR indication is the stack's own, and no message of the peer's program.
bool Inbound::at_rtr() const { return expects_rtr_ && counters_.fpdus == 1; }

void Inbound::on_event(const rdmap::Event& event, InboundEvents& events) {
  if (const auto* delivery = std::get_if<rdmap::SendDelivered>(&event)) {
    ++counters_.receives;
    events.add(*delivery);
  } else if (std::holds_alternative<rdmap::PlacedWrite>(event)) {
    if (!at_rtr()) ++counters_.peer_writes;
  } else if (std::holds_alternative<rdmap::ReadRequestDelivered>(event)) {
    if (!at_rtr()) ++counters_.peer_reads;
    events.for_outbound = true;
  } else if (std::holds_alternative<rdmap::AtomicRequestDelivered>(event)) {
    ++counters_.peer_atomics;
    events.for_outbound = true;
  } else if (std::holds_alternative<rdmap::RequestFinished>(event)) {
    events.for_outbound = true;
  } else if (const auto* terminate = std::get_if<rdmap::Terminate>(&event)) {
    on_terminate(*terminate, events);
  }
}

void Inbound::on_fault(const rdmap::Fault& fault, InboundEvents& events) {
  events.fault = fault;
  if (fault.in_sink) events.faulty_read = reads_.finished();
  end();
}

void Inbound::on_terminate(const rdmap::Terminate& message, InboundEvents& events) {
  events.terminate = message;
  events.terminated_read = named_request(message);
  end();
}

// Which of our Reads and atomics a Terminate is about: by the Read Request Header, or else by the
// MSN of the DDP header, as all of them travel on QN 1 (RFC 5040 §4.8, RFC 7306 §5.2).
std::optional<std::uint32_t> Inbound::named_request(const rdmap::Terminate& message) const {
  const std::uint32_t first = reads_.finished();
  const auto header = ddp::parse(ConstBytes(message.ddp_header).first(message.ddp_header_size));
  const auto* untagged = header ? std::get_if<ddp::UntaggedSegment>(&*header) : nullptr;
  const bool by_msn = untagged != nullptr && untagged->header.qn == rdmap::kReadRequestQueueNumber;
  for (std::uint32_t i = 0; i < ord_; ++i) {
    const std::uint32_t index = first + i;
    const bool named = message.read_request
                           ? message.read_request->sink_stag == reads_.sink_stag(index)
                           : by_msn && untagged->header.msn.value() == index + 1U;
    if (named) return index;
  }
  return std::nullopt;
}

std::optional<rdmap::ReceiveBuffer> Inbound::stop() {
  end();
  counters_.octets += kept_.size();
  kept_.clear();
  return receiver_.abandon();
}

void Inbound::end() {
  ended_ = true;
  waiting_ = std::vector<std::byte>();
}

std::optional<Time> Inbound::deadline() const {
  if (!awaits_receive()) return std::nullopt;
  return waits_until_;
}

}  // namespace iwarp::connection
