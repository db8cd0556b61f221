#include "harness/messages.hpp"

#include <algorithm>

namespace iwarp::conform {
namespace {

void check(bool good, const std::string& expected, const Segment& segment) {
  if (!good) throw Failure(expected, describe(segment));
}

std::string first_and(std::string_view field) {
  return "the same " + std::string(field) + " in all segments of a message";
}

}  // namespace

UntaggedMessage expect_untagged_message(Stream& stream, Opcode opcode, std::uint32_t qn) {
  UntaggedMessage message;
  std::uint8_t control = 0;
  for (;;) {
    const Segment segment = stream.expect_segment_of(opcode);
    check(!segment.tagged(), "an untagged segment", segment);
    check(segment.qn == qn, "QN " + std::to_string(qn), segment);
    if (message.segments++ == 0) {
      message.invalidate_stag = segment.invalidate_stag;
      message.msn = segment.msn;
      control = segment.rdmap_control;
    }
    check(segment.msn == message.msn, first_and("MSN"), segment);
    check(segment.invalidate_stag == message.invalidate_stag && segment.rdmap_control == control,
          first_and("RsvdULP"), segment);
    check(segment.mo == message.payload.size(), "MO " + std::to_string(message.payload.size()),
          segment);
    put(message.payload, segment.payload);
    if (segment.last()) return message;
  }
}

TaggedMessage expect_tagged_message(Stream& stream, Opcode opcode) {
  TaggedMessage message;
  for (;;) {
    const Segment segment = stream.expect_segment_of(opcode);
    check(segment.tagged(), "a tagged segment", segment);
    if (message.segments++ == 0) {
      message.stag = segment.stag;
      message.to = segment.to;
    }
    check(segment.stag == message.stag, first_and("STag"), segment);
    const std::uint64_t to = message.to + message.payload.size();
    check(segment.to == to, "TO " + hex_number(to, 16), segment);
    put(message.payload, segment.payload);
    if (segment.last()) return message;
  }
}

ReceivedRead expect_read_request(Stream& stream) {
  const UntaggedMessage message = expect_untagged_message(stream, kReadRequest, kReadQueue);
  if (message.payload.size() != ReadRequest::kSize) {
    throw Failure("an RDMA Read Request Header of 28 octets",
                  std::to_string(message.payload.size()));
  }
  return {message.msn, *parse_read_request(message.payload)};
}

ReceivedAtomic expect_atomic_request(Stream& stream) {
  const UntaggedMessage message = expect_untagged_message(stream, kAtomicRequest, kReadQueue);
  if (message.payload.size() != AtomicRequest::kSize) {
    throw Failure("an Atomic Request Header of 52 octets", std::to_string(message.payload.size()));
  }
  return {message.msn, *parse_atomic_request(message.payload)};
}

std::vector<Segment> cut_message(const Segment& whole, std::size_t cut) {
  std::vector<Segment> segments;
  std::size_t at = 0;
  do {  // an empty message is one segment, too
    const std::size_t end = std::min(at + cut, whole.payload.size());
    Segment segment = whole;
    segment.payload = Octets(whole.payload.begin() + static_cast<std::ptrdiff_t>(at),
                             whole.payload.begin() + static_cast<std::ptrdiff_t>(end));
    segment.mo += static_cast<std::uint32_t>(at);
    segment.to += at;
    if (end < whole.payload.size()) segment.ddp_control &= static_cast<std::uint8_t>(~kLast);
    segments.push_back(std::move(segment));
    at = end;
  } while (at < whole.payload.size());
  return segments;
}

void send_cut(Stream& stream, const Segment& whole, std::size_t cut) {
  for (const Segment& segment : cut_message(whole, cut)) stream.send(segment);
}

}  // namespace iwarp::conform
