#include "soft/qp/link.hpp"

#include <utility>

#include "soft/mpa_offload.hpp"
#include "soft/qp/parts.hpp"

namespace iwarp::verbs::soft {
namespace {

bool is_to_get_rtr(const RdmaMode& mode) {
  return mode.role == Role::kResponder && mode.agreed.model == mpa::ConnectionModel::kPeerToPeer;
}

connection::Terms terms_of(const RdmaMode& mode, const SoftQpInit& init, std::uint32_t secret) {
  connection::Terms terms;
  terms.modes = left_to_software(mode.agreed.modes, mode.offloads);
  terms.ird = mode.agreed.depths.ird;
  terms.ord = mode.agreed.depths.ord;
  terms.extensions = mode.info.rfc7306 ? rdmap::Extensions::kRfc7306 : rdmap::Extensions::kNone;
  terms.rtr = mode.rtr;
  if (is_to_get_rtr(mode)) terms.first = rdmap::FirstMessage::kMayBeRtrSend;
  terms.receive_wait = init.receive_wait;
  if (init.source_buffers == SourceBuffers::kStable) {
    terms.source = connection::SourceMemory::kStable;
  }
  terms.secret = secret;
  return terms;
}

}  // namespace

Link::Link(QpParts& parts, RdmaMode rdma_mode, std::uint32_t secret)
    : core({parts.init.services->memory->table(), parts.accessor(), parts.receives.source(),
            parts.sends.queue(), &parts.allowed},
           terms_of(rdma_mode, parts.init, secret)),
      mode(std::move(rdma_mode)),
      stream(*mode.stream) {}

connection::Progress Link::progress() const {
  return {sent.octets(), stream.delivery().unacknowledged, received.octets()};
}

bool Link::awaits_rtr() const { return is_to_get_rtr(mode); }

}  // namespace iwarp::verbs::soft
