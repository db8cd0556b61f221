#include "soft/qp_link.hpp"

#include <utility>

namespace iwarp::verbs::soft {
namespace {

rdmap::Rtr rtr_of(mpa::Rtr rtr) {
  switch (rtr) {
    case mpa::Rtr::kSend: return rdmap::Rtr::kSend;
    case mpa::Rtr::kWrite: return rdmap::Rtr::kWrite;
    case mpa::Rtr::kRead: return rdmap::Rtr::kRead;
    case mpa::Rtr::kNone: break;
  }
  return rdmap::Rtr::kNone;
}

rdmap::Extensions extensions_of(const RdmaMode& mode) {
  return mode.info.rfc7306 ? rdmap::Extensions::kRfc7306 : rdmap::Extensions::kNone;
}

}  // namespace

bool awaits_rtr(const RdmaMode& mode) {
  return mode.role == Role::kResponder && mode.agreed.model == mpa::ConnectionModel::kPeerToPeer;
}

SoftQp::Link::Link(SoftQp& qp, RdmaMode rdma_mode, std::uint32_t secret)
    : mode(std::move(rdma_mode)),
      stream(*mode.stream),
      reads(mode.agreed.depths.ord, secret),
      responses(mode.agreed.depths.ird),
      deframer(mode.agreed.modes.crc, mode.agreed.modes.markers_rx),
      receiver(
          {qp.init_.host->stags(), qp.accessor(), qp.receives(), reads, responses, &qp.allowed_},
          awaits_rtr(mode) ? rdmap::FirstMessage::kMayBeRtrSend : rdmap::FirstMessage::kOrdinary,
          extensions_of(mode)),
      framer(mode.agreed.modes.crc, mode.agreed.modes.markers_tx),
      transmitter({qp.send_queue_, responses, reads}, rtr_of(mode.rtr)) {}

void SoftQp::Link::drop_unsent() {
  // A device that has not copied it yet reads on; see hold().
  if (stream.released() < accepted) {
    held.push_back({accepted, std::move(unsent), GatherList(0, 0), {}});
  }
  unsent = {};
  unsent_from = 0;
}

bool SoftQp::Link::at_rtr() const { return fpdus_received.value() == 1 && awaits_rtr(mode); }

void SoftQp::Link::hold(Scratch& scratch) {
  for (ddp::StagTable::Pin& pin : scratch.pins) pin.lend();
  held.push_back({accepted, {}, std::move(scratch.gather), std::move(scratch.pins)});
  scratch.renew();
}

void SoftQp::Link::let_go(std::uint64_t released) {
  while (!held.empty() && held.front().end <= released) held.pop_front();
}

void SoftQp::Link::count(rdmap::Operation operation) {
  switch (operation) {
    case rdmap::Operation::kWrite: return writes.add(1);
    case rdmap::Operation::kRead: return reads_done.add(1);
    case rdmap::Operation::kFetchAdd:
    case rdmap::Operation::kCmpSwap: return atomics.add(1);
    case rdmap::Operation::kWriteImmediate:
    case rdmap::Operation::kWriteImmediateSolicited: writes.add(1); [[fallthrough]];
    case rdmap::Operation::kImmediate:
    case rdmap::Operation::kImmediateSolicited: return immediates.add(1);
    case rdmap::Operation::kLocal: return;
    default: return sends.add(1);
  }
}

TerminateInfo terminate_info(const rdmap::Terminate& message) {
  std::byte octets[rdmap::Terminate::kMaxSize];
  const std::size_t size = message.encode(octets);
  return {static_cast<std::uint8_t>(message.cause.layer),
          message.cause.type,
          message.cause.code,
          {octets + rdmap::Terminate::kControlSize, octets + size}};
}

}  // namespace iwarp::verbs::soft
