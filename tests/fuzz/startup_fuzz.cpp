#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "fuzz/input.hpp"
#include "iwarp/mpa/initiator.hpp"
#include "iwarp/mpa/responder.hpp"

// Start-up frames of a peer (RFC 5044 §7.1, RFC 6581). Input: an octet that says which end reads
// (an initiator, a responder, or both talk to each other), one of choices, one for the
// segmentation, 14 for the options of each end; then the frame: flags, revision and Private Data of
// a frame that is completed here, or octets as they are.
namespace iwarp::mpa {
namespace {

using fuzz::Choices;
using fuzz::Exact;
using fuzz::Input;
using fuzz::require;

using Octets = std::vector<std::byte>;
/// Numbers that say all that an end has made of what came.
using Trace = std::vector<std::uint64_t>;

void add(Trace& trace, ConstBytes octets) {
  trace.push_back(octets.size());
  for (const std::byte b : octets) trace.push_back(std::to_integer<std::uint64_t>(b));
}

void add(Trace& trace, const Agreed& agreed) {
  for (const auto value :
       {static_cast<std::uint64_t>(agreed.revision), static_cast<std::uint64_t>(agreed.modes.crc),
        static_cast<std::uint64_t>(agreed.modes.markers_tx),
        static_cast<std::uint64_t>(agreed.modes.markers_rx),
        static_cast<std::uint64_t>(agreed.model), std::uint64_t{agreed.depths.ird},
        std::uint64_t{agreed.depths.ord}, std::uint64_t{agreed.peer_ird.to_wire()},
        std::uint64_t{agreed.peer_ord.to_wire()}}) {
    trace.push_back(value);
  }
}

// ---- What the input asks for ----

RtrSet some_rtr(Choices& choices) {
  RtrSet set;
  for (const Rtr kind : {Rtr::kSend, Rtr::kWrite, Rtr::kRead}) {
    if (choices.next()) set.insert(kind);
  }
  return set;
}

DepthOptions some_depths(Input& input) {
  DepthOptions depths;
  depths.ird = input.word16();
  depths.ord = input.word16();
  depths.ird_limit = input.word16();
  Choices choices(input.octet());
  depths.ird_statement = choices.next(DepthStatement::kStated, DepthStatement::kLeftToUlp);
  depths.ord_statement = choices.next(DepthStatement::kStated, DepthStatement::kLeftToUlp);
  // As they are they seldom keep within their bounds.
  if (choices.next()) return depths;
  depths.ird &= 0x0FU;
  depths.ord &= 0x0FU;
  depths.ird_limit = static_cast<std::uint16_t>(depths.ird + (depths.ird_limit & 0x0FU));
  return depths;
}

InitiatorOptions initiator_options(Input& input, ConstBytes private_data) {
  InitiatorOptions options;
  options.format =
      input.pick({StartupFormat::kEnhanced, StartupFormat::kRevision1, StartupFormat::kRevision2});
  options.peer_to_peer =
      input.pick({PeerToPeer::kPreferred, PeerToPeer::kOff, PeerToPeer::kRequired});
  Choices choices(input.octet());
  options.rtr = some_rtr(choices);
  options.crc = choices.next(Crc::kOn, Crc::kOff);
  options.markers_rx = choices.next(Markers::kOff, Markers::kOn);
  options.fallback = choices.next(Fallback::kPermitted, Fallback::kForbidden);
  options.depths = some_depths(input);
  options.private_data = private_data.first(std::min<std::size_t>(
      private_data.size(), std::size_t{input.word16()} % (kMaxPrivateData + 2)));
  return options;
}

AcceptOptions accept_options(Input& input, ConstBytes private_data) {
  AcceptOptions options;
  Choices choices(input.octet());
  options.rtr = some_rtr(choices);
  options.crc = choices.next(Crc::kOn, Crc::kOff);
  options.markers_rx = choices.next(Markers::kOff, Markers::kOn);
  options.ird_shortage = choices.next(IrdShortage::kOfferLess, IrdShortage::kReject);
  options.depths = some_depths(input);
  options.required_ord = input.octet();
  options.private_data = private_data.first(std::min<std::size_t>(
      private_data.size(), std::size_t{input.word16()} % (kMaxPrivateData + 2)));
  return options;
}

// A frame whose key and length are right, and what the input puts behind it.
Octets built_frame(Input& input, FrameKind kind) {
  const std::string_view key =
      kind == FrameKind::kRequest ? "MPA ID Req Frame" : "MPA ID Rep Frame";
  Octets frame(kStartupHeaderSize);
  std::memcpy(frame.data(), key.data(), key.size());
  frame[16] = std::byte{input.octet()};
  frame[17] = std::byte{static_cast<std::uint8_t>(input.octet() % 4)};
  const ConstBytes private_data = input.chunk();
  const std::size_t size = private_data.size() + (input.octet() & 0x0FU) * std::size_t{40};
  store_be(frame.data() + 18, static_cast<std::uint16_t>(size));
  frame.insert(frame.end(), private_data.begin(), private_data.end());
  frame.resize(kStartupHeaderSize + size);
  const ConstBytes behind = input.rest();
  frame.insert(frame.end(), behind.begin(), behind.end());
  return frame;
}

Octets some_frame(Input& input, FrameKind kind, bool raw) {
  if (!raw) return built_frame(input, kind);
  const ConstBytes octets = input.rest();
  return {octets.begin(), octets.end()};
}

// ---- What is done with it ----

// Feeds `octets` to `end` in pieces of `step` octets, 0 for all at once.
template <typename End>
std::size_t feed(End& end, ConstBytes octets, std::size_t step) {
  std::size_t taken = 0;
  const std::size_t most = step == 0 ? std::max<std::size_t>(octets.size(), 1) : step;
  while (!octets.empty()) {
    const Exact piece(octets.first(std::min(most, octets.size())));
    const std::size_t now = end.receive(piece.bytes());
    require(now <= piece.bytes().size(), "no more is taken than was given");
    taken += now;
    octets = octets.subspan(piece.bytes().size());
    if (now < piece.bytes().size()) break;
  }
  return taken;
}

template <typename End>
void happen(End& end, std::uint8_t what) {
  switch (what % 4) {
    case 1: return end.on_closed();
    case 2: return end.on_timeout();
    case 3: return end.on_local_error();
    default: return;
  }
}

Trace trace_of(const Initiator& initiator) {
  Trace trace{static_cast<std::uint64_t>(initiator.state())};
  const InitiatorOutcome outcome = initiator.outcome();
  trace.push_back(outcome.index());
  if (const auto* accepted = std::get_if<Accepted>(&outcome)) {
    add(trace, accepted->agreed);
    trace.push_back(static_cast<std::uint64_t>(accepted->rtr));
    add(trace, accepted->private_data);
  } else if (const auto* rejected = std::get_if<Rejected>(&outcome)) {
    if (rejected->peer) add(trace, rejected->peer->encode());
    add(trace, rejected->private_data);
  } else if (const auto* failed = std::get_if<Failed>(&outcome)) {
    trace.push_back(static_cast<std::uint64_t>(failed->error));
    trace.push_back(failed->terminate ? 1U + failed->terminate->code : 0U);
    trace.push_back(static_cast<std::uint64_t>(failed->fallback));
  }
  return trace;
}

// An initiator that gets `octets`, then sees `event`.
Trace run_initiator(const InitiatorOptions& options, ConstBytes octets, std::size_t step,
                    std::uint8_t event) {
  auto initiator = Initiator::create(options);
  if (!initiator) return {};
  require(StartupFrameView::parse(initiator->request(), FrameKind::kRequest).has_value(),
          "a Request is one");
  const std::size_t taken = feed(*initiator, octets, step);
  happen(*initiator, event);
  Trace trace = trace_of(*initiator);
  if (initiator->state() != InitiatorState::kFailed) trace.push_back(taken);
  return trace;
}

Trace run_responder(const AcceptOptions& options, ConstBytes octets, std::size_t step,
                    std::uint8_t event) {
  Responder responder;
  feed(responder, octets, step);
  happen(responder, event);
  Trace trace{static_cast<std::uint64_t>(responder.state())};
  if (responder.state() == ResponderState::kFailed) {
    trace.push_back(static_cast<std::uint64_t>(responder.error()));
  }
  if (const auto request = responder.request()) add(trace, request->private_data);
  RejectOptions no;
  no.private_data = options.private_data;
  const auto answer = (event & 0x40U) != 0 ? responder.reject(no) : responder.accept(options);
  if (!answer) {
    trace.push_back(static_cast<std::uint64_t>(answer.error()));
    return trace;
  }
  require(StartupFrameView::parse(answer->reply, FrameKind::kReply).has_value(), "a Reply is one");
  add(trace, answer->reply);
  if (answer->agreed) add(trace, *answer->agreed);
  return trace;
}

// What a whole frame says is said again when it is made of that.
void check_frame(ConstBytes octets, FrameKind kind) {
  const Exact exact(octets);
  const auto view = StartupFrameView::parse(exact.bytes(), kind);
  if (!view) return;
  require(view->size() <= octets.size(), "a frame lies in its octets");
  const StartupFrame frame{kind,
                           view->revision(),
                           view->markers(),
                           view->crc(),
                           view->verdict(),
                           view->enhanced(),
                           view->private_data()};
  const Exact room{Octets(kMaxStartupFrameSize)};
  const auto size = frame.encode(room.bytes());
  require(size && *size == view->size(), "a received frame can be sent");
  const auto again = StartupFrameView::parse(room.bytes().first(*size), kind);
  require(again && again->revision() == view->revision() && again->crc() == view->crc() &&
              again->markers() == view->markers() && again->verdict() == view->verdict() &&
              again->enhanced() == view->enhanced() &&
              fuzz::equal(again->private_data(), view->private_data()),
          "and says the same");
}

// Two ends of this stack understand each other, whatever they want.
void negotiate(const InitiatorOptions& asks, const AcceptOptions& accepts) {
  auto initiator = Initiator::create(asks);
  if (!initiator) return;
  Responder responder;
  require(responder.receive(initiator->request()) == initiator->request().size() &&
              responder.state() == ResponderState::kDeciding,
          "a Request is understood");
  const auto answer = responder.accept(accepts);
  if (!answer) return;
  require(initiator->receive(answer->reply) == answer->reply.size(), "a Reply is taken");
  const InitiatorOutcome outcome = initiator->outcome();
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    require(failed->error == Error::kNoMatchingRtr || failed->error == Error::kInsufficientIrd,
            "only needs can be in the way");
    require(failed->terminate.has_value(), "and the responder is told");
    return;
  }
  const auto* accepted = std::get_if<Accepted>(&outcome);
  require((accepted != nullptr) == answer->agreed.has_value(), "both ends know the verdict");
  if (accepted == nullptr) return;
  const StreamModes& here = accepted->agreed.modes;
  const StreamModes& there = answer->agreed->modes;
  require(here.crc == there.crc && here.markers_rx == there.markers_tx &&
              here.markers_tx == there.markers_rx,
          "both ends frame alike");
  require(accepted->agreed.model == answer->agreed->model, "both ends have one model");
  require(
      (accepted->rtr == Rtr::kNone) == (accepted->agreed.model == ConnectionModel::kClientServer),
      "an RTR indication goes with peer-to-peer");
}

void run(Input input) {
  const std::uint8_t who = input.octet();
  const std::uint8_t event = input.octet();
  const std::size_t step = input.octet();
  const Octets private_data(kMaxPrivateData + 2, std::byte{0x5A});
  const InitiatorOptions asks = initiator_options(input, private_data);
  const AcceptOptions accepts = accept_options(input, private_data);
  if (who % 4 == 3) return negotiate(asks, accepts);
  const FrameKind kind = who % 4 == 0 ? FrameKind::kReply : FrameKind::kRequest;
  const Octets octets = some_frame(input, kind, (event & 0x80U) != 0);
  check_frame(octets, kind);
  if (kind == FrameKind::kReply) {
    require(run_initiator(asks, octets, 0, event) == run_initiator(asks, octets, step, event),
            "a Reply does not depend on segmentation");
  } else {
    require(run_responder(accepts, octets, 0, event) == run_responder(accepts, octets, step, event),
            "a Request does not depend on segmentation");
  }
}

}  // namespace
}  // namespace iwarp::mpa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  iwarp::mpa::run({data, size});
  return 0;
}
