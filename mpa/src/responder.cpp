#include "iwarp/mpa/responder.hpp"

#include <algorithm>
#include <utility>

namespace iwarp::mpa {
namespace {

using State = ResponderState;
using Event = ResponderEvent;

struct Row {
  State from;
  Event event;
  State to;
};

// RFC 5044 §7.1.2 rule 2. An event without a row changes nothing.
constexpr Row kTable[] = {
    {State::kAwaitingRequest, Event::kValidRequest, State::kDeciding},
    {State::kAwaitingRequest, Event::kInvalidRequest, State::kFailed},
    {State::kAwaitingRequest, Event::kPrematureOctets, State::kFailed},
    {State::kAwaitingRequest, Event::kConnectionClosed, State::kFailed},
    {State::kAwaitingRequest, Event::kTimeout, State::kFailed},
    {State::kAwaitingRequest, Event::kLocalError, State::kFailed},
    {State::kDeciding, Event::kPrematureOctets, State::kFailed},
    {State::kDeciding, Event::kAccept, State::kAccepted},
    {State::kDeciding, Event::kReject, State::kRejected},
    {State::kDeciding, Event::kConnectionClosed, State::kFailed},
    {State::kDeciding, Event::kTimeout, State::kFailed},
    {State::kDeciding, Event::kLocalError, State::kFailed},
};

bool is_peer_to_peer(const PeerRequest& request) {
  return request.enhanced && request.enhanced->model == ConnectionModel::kPeerToPeer;
}

bool consistent(const AcceptOptions& options, const PeerRequest& request) {
  if (is_peer_to_peer(request) && options.rtr.empty()) return false;
  return options.depths.valid() && options.required_ord <= options.depths.ord;
}

// RFC 6581 §9.1: what would make the negotiation unsuccessful. What is not stated is the ULP's
// matter.
bool depths_fall_short(const AcceptOptions& options, const EnhancedData& asked) {
  if (asked.ird.is_stated() && asked.ird.value() < options.required_ord) return true;
  return options.ird_shortage == IrdShortage::kReject && asked.ord.is_stated() &&
         asked.ord.value() > options.depths.ird_limit;
}

RejectOptions needs_of(const AcceptOptions& options) {
  const DepthOptions& depths = options.depths;
  const std::uint16_t ord = options.required_ord > 0 ? options.required_ord : depths.ord;
  return {ReadDepth(depths.ird_limit), ReadDepth(ord), options.rtr, {}};
}

// RFC 6581 §9.1 and §9.2: the enhanced data of a Reply repeats the connection model, and does not
// state the counterpart of what the Request did not state.
EnhancedData reply_data(const EnhancedData& asked, RtrSet rtr, ReadDepth ird, ReadDepth ord) {
  EnhancedData data;
  data.model = asked.model;
  if (asked.model == ConnectionModel::kPeerToPeer) data.rtr = rtr;
  if (asked.ord.is_stated()) data.ird = ird;
  if (asked.ird.is_stated()) data.ord = ord;
  return data;
}

StartupFrame reply_frame(const PeerRequest& request, ConstBytes private_data) {
  StartupFrame frame;
  frame.kind = FrameKind::kReply;
  frame.revision = request.revision;
  frame.crc = request.crc;
  frame.private_data = private_data;
  return frame;
}

}  // namespace

ResponderState next_state(ResponderState state, ResponderEvent event) {
  for (const Row& row : kTable) {
    if (row.from == state && row.event == event) return row.to;
  }
  return state;
}

std::size_t Responder::receive(ConstBytes bytes) {
  if (state_ == State::kAwaitingRequest) {
    const auto taken = reader_.feed(bytes);
    if (!taken) {
      apply(Event::kInvalidRequest, taken.error());
      return bytes.size();
    }
    if (!reader_.complete()) return *taken;
    apply(Event::kValidRequest);
    return *taken + receive(bytes.subspan(*taken));
  }
  if (!bytes.empty()) apply(Event::kPrematureOctets, Error::kUnexpectedOctets);
  return 0;
}

void Responder::on_closed() { apply(Event::kConnectionClosed, Error::kConnectionLost); }

void Responder::on_timeout() { apply(Event::kTimeout, Error::kTimeout); }

void Responder::on_local_error() { apply(Event::kLocalError, Error::kLocalCatastrophic); }

std::optional<PeerRequest> Responder::request() const {
  if (!reader_.complete()) return std::nullopt;
  const StartupFrameView frame = reader_.frame();
  return PeerRequest{frame.revision(), frame.markers(), frame.crc(), frame.enhanced(),
                     frame.private_data()};
}

std::size_t Responder::max_private_data() const {
  const auto asked = request();
  return max_ulp_private_data(asked ? asked->enhanced : std::nullopt);
}

Result<Answer, Error> Responder::accept(const AcceptOptions& options) {
  if (state_ != State::kDeciding) return failure(Error::kWrongState);
  const PeerRequest asked = *request();
  if (!consistent(options, asked)) return failure(Error::kInvalidOptions);
  if (asked.enhanced && depths_fall_short(options, *asked.enhanced)) {
    return reject(needs_of(options));
  }
  return accept_settled(options, asked);
}

Result<Answer, Error> Responder::accept_settled(const AcceptOptions& options,
                                                const PeerRequest& asked) {
  const bool crc = options.crc == Crc::kOn || asked.crc == Crc::kOn;
  StartupFrame frame = reply_frame(asked, options.private_data);
  frame.markers = options.markers_rx;
  frame.crc = crc ? Crc::kOn : Crc::kOff;

  Answer answer;
  Agreed& agreed = answer.agreed.emplace();
  agreed.revision = asked.revision;
  agreed.modes = {frame.crc, asked.markers, options.markers_rx};
  agreed.depths = {options.depths.ird, options.depths.ord};
  if (asked.enhanced) {
    const DepthOptions& own = options.depths;
    if (is_peer_to_peer(asked)) answer.expected_rtr = answer_rtr(options.rtr, asked.enhanced->rtr);
    agreed.model = asked.enhanced->model;
    agreed.depths = settle_responder(own, *asked.enhanced, answer.expected_rtr);
    agreed.peer_ird = asked.enhanced->ird;
    agreed.peer_ord = asked.enhanced->ord;
    frame.enhanced = reply_data(*asked.enhanced, answer.expected_rtr,
                                stated(agreed.depths.ird, own.ird_statement),
                                stated(agreed.depths.ord, own.ord_statement));
  }
  return send(frame, Event::kAccept, answer);
}

Result<Answer, Error> Responder::reject(const RejectOptions& options) {
  if (state_ != State::kDeciding) return failure(Error::kWrongState);
  const PeerRequest asked = *request();
  StartupFrame frame = reply_frame(asked, options.private_data);
  frame.verdict = Verdict::kRejected;
  if (asked.enhanced) {
    frame.enhanced = reply_data(*asked.enhanced, options.rtr, options.ird, options.ord);
  }
  return send(frame, Event::kReject, {});
}

Result<Answer, Error> Responder::send(const StartupFrame& frame, ResponderEvent event,
                                      Answer answer) {
  const auto size = frame.encode(reply_);
  if (!size) return failure(size.error());
  apply(event);
  answer.reply = {reply_.data(), *size};
  return answer;
}

void Responder::apply(ResponderEvent event, Error error) {
  const State before = std::exchange(state_, next_state(state_, event));
  if (state_ == State::kFailed && before != State::kFailed) error_ = error;
}

}  // namespace iwarp::mpa
