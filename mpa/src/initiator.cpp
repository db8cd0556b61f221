#include "iwarp/mpa/initiator.hpp"

#include <utility>

namespace iwarp::mpa {
namespace {

using State = InitiatorState;
using Event = InitiatorEvent;

struct Row {
  State from;
  Event event;
  State to;
};

// RFC 5044 §7.1.2 rule 3 and RFC 6581 §9. An event without a row changes nothing.
constexpr Row kTable[] = {
    {State::kAwaitingReply, Event::kAcceptingReply, State::kAccepted},
    {State::kAwaitingReply, Event::kRejectingReply, State::kRejected},
    {State::kAwaitingReply, Event::kInvalidReply, State::kFailed},
    {State::kAwaitingReply, Event::kUnsuitableReply, State::kFailed},
    {State::kAwaitingReply, Event::kConnectionClosed, State::kFailed},
    {State::kAwaitingReply, Event::kTimeout, State::kFailed},
    {State::kAwaitingReply, Event::kLocalError, State::kFailed},
    {State::kAccepted, Event::kLocalError, State::kFailed},
};

bool asks_peer_to_peer(const InitiatorOptions& options) {
  return options.format == StartupFormat::kEnhanced && options.peer_to_peer != PeerToPeer::kOff;
}

ConnectionModel model_of(const InitiatorOptions& options) {
  return asks_peer_to_peer(options) ? ConnectionModel::kPeerToPeer : ConnectionModel::kClientServer;
}

Revision revision_of(const InitiatorOptions& options) {
  return options.format == StartupFormat::kRevision1 ? Revision::k1 : Revision::k2;
}

bool consistent(const InitiatorOptions& options) {
  const bool enhanced = options.format == StartupFormat::kEnhanced;
  if (options.peer_to_peer == PeerToPeer::kRequired && !enhanced) return false;
  if (asks_peer_to_peer(options) && options.rtr.empty()) return false;
  return options.depths.valid();
}

StartupFrame request_frame(const InitiatorOptions& options) {
  StartupFrame frame;
  frame.kind = FrameKind::kRequest;
  frame.revision = revision_of(options);
  frame.markers = options.markers_rx;
  frame.crc = options.crc;
  frame.private_data = options.private_data;
  if (options.format == StartupFormat::kEnhanced) {
    const DepthOptions& depths = options.depths;
    frame.enhanced =
        EnhancedData{model_of(options), options.rtr, stated(depths.ird, depths.ird_statement),
                     stated(depths.ord, depths.ord_statement)};
  }
  return frame;
}

}  // namespace

InitiatorOptions revision_1_fallback(InitiatorOptions options) {
  options.format = StartupFormat::kRevision1;
  options.peer_to_peer = PeerToPeer::kOff;
  options.fallback = Fallback::kForbidden;
  return options;
}

InitiatorState next_state(InitiatorState state, InitiatorEvent event) {
  for (const Row& row : kTable) {
    if (row.from == state && row.event == event) return row.to;
  }
  return state;
}

Initiator::Initiator(const InitiatorOptions& options) : options_(options) {}

Result<Initiator, Error> Initiator::create(const InitiatorOptions& options) {
  if (!consistent(options)) return failure(Error::kInvalidOptions);
  Initiator initiator(options);
  const auto size = request_frame(options).encode(initiator.request_);
  if (!size) return failure(size.error());
  initiator.request_size_ = *size;
  initiator.options_.private_data = {};  // copied; the caller's need not live on
  return initiator;
}

std::size_t Initiator::receive(ConstBytes bytes) {
  if (state_ != State::kAwaitingReply) return 0;
  const auto taken = reader_.feed(bytes);
  if (!taken) {
    apply(Event::kInvalidReply, taken.error());
    return bytes.size();
  }
  if (reader_.complete()) judge_reply();
  return *taken;
}

void Initiator::on_closed() { apply(Event::kConnectionClosed, Error::kConnectionLost); }

void Initiator::on_timeout() { apply(Event::kTimeout, Error::kTimeout); }

void Initiator::on_local_error() { apply(Event::kLocalError, Error::kLocalCatastrophic); }

InitiatorOutcome Initiator::outcome() const {
  switch (state_) {
    case State::kAwaitingReply: break;
    case State::kAccepted: return Accepted{agreed_, rtr_, reader_.frame().private_data()};
    case State::kRejected:
      return Rejected{reader_.frame().enhanced(), reader_.frame().private_data()};
    case State::kFailed: return failed_;
  }
  return Pending{};
}

void Initiator::apply(InitiatorEvent event, Error error) {
  const State before = std::exchange(state_, next_state(state_, event));
  if (state_ == before || state_ != State::kFailed) return;
  failed_.error = error;
  // Only behind an accepting Reply is there a stream that could carry a Terminate.
  if (event == Event::kUnsuitableReply || before == State::kAccepted) {
    failed_.terminate = TerminateOrder{terminate_code(error), agreed_.modes};
  }
  if (event == Event::kConnectionClosed && may_fall_back()) {
    failed_.fallback = Fallback::kPermitted;
  }
}

void Initiator::judge_reply() {
  const StartupFrameView reply = reader_.frame();
  if (reply.verdict() == Verdict::kRejected) {
    apply(Event::kRejectingReply);
  } else if (const auto invalid = check_reply(reply)) {
    apply(Event::kInvalidReply, *invalid);
  } else if (const auto unsuitable = settle(reply)) {
    apply(Event::kUnsuitableReply, *unsuitable);
  } else {
    apply(Event::kAcceptingReply);
  }
}

// RFC 6581 §10: a Reply is enhanced exactly if the Request was.
std::optional<Error> Initiator::check_reply(const StartupFrameView& reply) const {
  const bool expected = options_.format == StartupFormat::kEnhanced;
  const bool enhanced = reply.enhanced().has_value();
  if (reply.revision() != revision_of(options_)) return Error::kRevisionMismatch;
  if (expected && !enhanced) return Error::kUnenhancedReply;
  if (!expected && enhanced) return Error::kUnexpectedEnhancedReply;
  return std::nullopt;
}

std::optional<Error> Initiator::settle(const StartupFrameView& reply) {
  const bool crc = options_.crc == Crc::kOn || reply.crc() == Crc::kOn;
  agreed_.revision = reply.revision();
  agreed_.modes = {crc ? Crc::kOn : Crc::kOff, reply.markers(), options_.markers_rx};
  agreed_.depths = {options_.depths.ird, options_.depths.ord};
  const auto peer = reply.enhanced();
  if (!peer) return std::nullopt;
  agreed_.peer_ird = peer->ird;
  agreed_.peer_ord = peer->ord;
  agreed_.model = peer->model;
  // RFC 6581 §9.2: the responder repeats the model; then there is an indication to be chosen.
  if (peer->model != model_of(options_)) return Error::kNoMatchingRtr;
  rtr_ = choose_rtr(options_.rtr, peer->rtr);
  if (peer->model == ConnectionModel::kPeerToPeer && rtr_ == Rtr::kNone) {
    return Error::kNoMatchingRtr;
  }
  const auto depths = settle_initiator(options_.depths, *peer);
  if (!depths) return depths.error();
  agreed_.depths = *depths;
  return std::nullopt;
}

// RFC 6581 §10: a responder that does not know enhanced frames closes the connection at once.
bool Initiator::may_fall_back() const {
  return reader_.size() == 0 && options_.format != StartupFormat::kRevision1 &&
         options_.fallback == Fallback::kPermitted &&
         options_.peer_to_peer != PeerToPeer::kRequired;
}

}  // namespace iwarp::mpa
