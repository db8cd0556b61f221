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

connection::Terms terms_of(const RdmaMode& mode, const SoftQpInit& init, std::uint32_t secret) {
  connection::Terms terms;
  terms.modes = mode.agreed.modes;
  terms.ird = mode.agreed.depths.ird;
  terms.ord = mode.agreed.depths.ord;
  terms.extensions = mode.info.rfc7306 ? rdmap::Extensions::kRfc7306 : rdmap::Extensions::kNone;
  terms.rtr = rtr_of(mode.rtr);
  if (awaits_rtr(mode)) terms.first = rdmap::FirstMessage::kMayBeRtrSend;
  terms.receive_wait = init.receive_wait;
  if (init.source_buffers == SourceBuffers::kStable) {
    terms.source = connection::SourceMemory::kStable;
  }
  terms.secret = secret;
  return terms;
}

}  // namespace

bool awaits_rtr(const RdmaMode& mode) {
  return mode.role == Role::kResponder && mode.agreed.model == mpa::ConnectionModel::kPeerToPeer;
}

SoftQp::Link::Link(SoftQp& qp, RdmaMode rdma_mode, std::uint32_t secret)
    : core({qp.init_.host->stags(), qp.accessor(), qp.receives(), qp.send_queue_, &qp.allowed_},
           terms_of(rdma_mode, qp.init_, secret)),
      mode(std::move(rdma_mode)),
      stream(*mode.stream) {}

TerminateInfo terminate_info(const rdmap::Terminate& message) {
  std::byte octets[rdmap::Terminate::kMaxSize];
  const std::size_t size = message.encode(octets);
  return {static_cast<std::uint8_t>(message.cause.layer),
          message.cause.type,
          message.cause.code,
          {octets + rdmap::Terminate::kControlSize, octets + size}};
}

}  // namespace iwarp::verbs::soft
