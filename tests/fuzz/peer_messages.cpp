#include "fuzz/peer_messages.hpp"

#include <algorithm>

#include "iwarp/rdmap/atomic.hpp"

namespace iwarp::fuzz {
namespace {

using rdmap::Opcode;

// What a segment does differently from how it should be.
enum Deviation : unsigned {
  kMsn = 1,
  kMo = 2,
  kQn = 4,
  kRdmapControl = 8,
  kDdpControl = 16,
  kNotLast = 32,
  kCut = 64,
};

Ulpdu some_payload(Input& input) {
  const ConstBytes start = input.chunk();
  Ulpdu payload(start.begin(), start.end());
  // Now and then longer than any buffer there is.
  const std::uint8_t more = input.octet();
  if (more > 200) payload.resize(payload.size() + more, std::byte{0xEE});
  return payload;
}

Ulpdu deviating(Input& input, unsigned how, Ulpdu ulpdu) {
  if ((how & kRdmapControl) != 0) ulpdu[1] = std::byte{input.octet()};
  if ((how & kDdpControl) != 0) ulpdu[0] = std::byte{input.octet()};
  if ((how & kCut) != 0) ulpdu.resize(input.octet());
  return ulpdu;
}

ddp::Last last_of(unsigned how) { return (how & kNotLast) != 0 ? ddp::Last::kNo : ddp::Last::kYes; }

Ulpdu tagged(Input& input, Opcode opcode, Stag stag, std::uint64_t to, ConstBytes payload) {
  const unsigned how = input.octet();
  return deviating(
      input, how,
      test::segment(test::tagged(opcode, stag, TaggedOffset{to}, last_of(how)), payload));
}

}  // namespace

Ulpdu PeerMessages::untagged(Input& input, Opcode opcode, ConstBytes payload, Stag invalidate) {
  const unsigned how = input.octet();
  const QueueState& queue = queues_.at(rdmap::traits(opcode).qn.value());
  auto header = test::untagged(opcode, queue.msn, queue.mo, last_of(how));
  header.rsvd_ulp_word = invalidate.value();
  if ((how & kMsn) != 0) header.msn = Msn{queue.msn + input.octet() - 1U};
  if ((how & kMo) != 0) header.mo = MessageOffset{queue.mo + input.word32()};
  if ((how & kQn) != 0) header.qn = QueueNumber{input.octet() % 6U};
  // RDMAP's own messages have a size: a segment goes on where the one before has ended.
  const bool fixed = opcode >= Opcode::kTerminate || opcode == Opcode::kReadRequest;
  if (fixed) payload = payload.subspan(std::min<std::size_t>(queue.mo, payload.size()));
  if ((how & kNotLast) != 0)
    payload = payload.first(std::min<std::size_t>(payload.size(), input.octet()));
  return deviating(input, how, test::segment(header, payload));
}

Ulpdu PeerMessages::write(Input& input) {
  const Stag stag = some_stag(input);
  const std::uint64_t to = some_offset(input, stag);
  return tagged(input, Opcode::kWrite, stag, to, some_payload(input));
}

Ulpdu PeerMessages::message(Input& input) {
  const auto opcode = input.pick({Opcode::kSend, Opcode::kSendInvalidate, Opcode::kSendSolicited,
                                  Opcode::kSendSolicitedInvalidate, Opcode::kImmediate,
                                  Opcode::kImmediateSolicited});
  const Stag ends = rdmap::traits(opcode).invalidates ? some_stag(input) : Stag{};
  Ulpdu payload = some_payload(input);
  if (opcode >= Opcode::kImmediate && payload.size() < 200) payload.resize(rdmap::kImmediateSize);
  return untagged(input, opcode, payload, ends);
}

Ulpdu PeerMessages::read_request(Input& input) {
  rdmap::ReadRequest request;
  request.sink_stag = Stag{input.word16()};
  request.size = input.octet();
  if (request.size > 250) request.size = input.word32();
  request.source_stag = some_stag(input);
  request.source_to = TaggedOffset{some_offset(input, request.source_stag)};
  return untagged(input, Opcode::kReadRequest, test::encoded(request));
}

Ulpdu PeerMessages::atomic_request(Input& input) {
  rdmap::AtomicRequest request;
  request.opcode = input.octet() & 0x0FU;
  request.id = input.octet();
  request.stag = some_stag(input);
  request.to = TaggedOffset{some_offset(input, request.stag)};
  if ((request.id & 1U) == 0) request.to = TaggedOffset{request.to.value() & ~std::uint64_t{7}};
  request.operands = {input.word16(), input.word16(), 0, input.octet()};
  Ulpdu octets(rdmap::AtomicRequest::kSize);
  request.encode(octets.data());
  return untagged(input, Opcode::kAtomicRequest, octets);
}

Ulpdu PeerMessages::atomic_response(Input& input, Stag id) {
  const rdmap::AtomicResponse response{id.value(), 0x1122334455667788};
  Ulpdu octets(rdmap::AtomicResponse::kSize);
  response.encode(octets.data());
  return untagged(input, Opcode::kAtomicResponse, octets);
}

// What is due, unless the input does not care.
Ulpdu PeerMessages::response(Input& input) {
  Choices deviations(input.octet());
  const auto owed = due();
  const Due request = owed.value_or(Due{});
  const bool atomic = request.owed == rdmap::Owed::kAtomicResponse;
  const bool other_kind = deviations.next();
  const Stag sink = deviations.next() || !owed ? some_stag(input) : request.sink;
  if (atomic != other_kind) return atomic_response(input, sink);
  const std::uint64_t to = deviations.next() ? some_offset(input, sink) : response_at_;
  Ulpdu payload = some_payload(input);
  // Whole, or in pieces as they come.
  const std::uint32_t left = request.length - std::min(response_at_, request.length);
  if (!deviations.next() && owed) payload.resize(std::min<std::size_t>(left, 600));
  return tagged(input, Opcode::kReadResponse, sink, to, payload);
}

Ulpdu PeerMessages::terminate(Input& input) {
  return untagged(input, Opcode::kTerminate, some_payload(input));
}

void PeerMessages::follow(ConstBytes ulpdu) {
  const auto parsed = ddp::parse(ulpdu);
  if (!parsed) return;
  if (const auto* segment = std::get_if<ddp::TaggedSegment>(&*parsed)) {
    const auto opcode = rdmap::decode_control(segment->header.rsvd_ulp).opcode;
    if (opcode != static_cast<std::uint8_t>(Opcode::kReadResponse)) return;
    response_at_ += static_cast<std::uint32_t>(segment->payload.size());
    if (segment->header.last == ddp::Last::kNo) return;
    response_at_ = 0;
    return answered();
  }
  const auto& segment = std::get<ddp::UntaggedSegment>(*parsed);
  if (segment.header.qn.value() >= queues_.size()) return;
  QueueState& queue = queues_.at(segment.header.qn.value());
  queue.mo += static_cast<std::uint32_t>(segment.payload.size());
  if (segment.header.last == ddp::Last::kNo) return;
  queue = {queue.msn + 1, 0};
  if (segment.header.qn == rdmap::kAtomicResponseQueueNumber) answered();
}

}  // namespace iwarp::fuzz
