#include "cases/rdma.hpp"

namespace iwarp::conform {
namespace {

constexpr std::uint32_t kSinkStag = 0x51A6A115;

}  // namespace

Link link_with_receives(Context& context, const Region& region, std::size_t count,
                        std::size_t size) {
  return context.link({.request = context.request(), .prepare = [&](Endpoint& endpoint) {
                         for (std::size_t i = 0; i < count; ++i) {
                           endpoint.receive(i + 1, region, i * size, size);
                         }
                       }});
}

Link talking_link(Context& context) { return talking_link(context, {context.request()}); }

Link talking_link(Context& context, const LinkOptions& options) {
  Link link = context.link(options);
  sync(link.stream);
  return link;
}

void sync(Stream& stream) {
  stream.send_read_request({.sink_stag = kSinkStag});
  const TaggedMessage response = expect_tagged_message(stream, kReadResponse);
  if (!response.payload.empty()) {
    throw Failure("an empty Read Response", count_of(response.payload.size()));
  }
}

Terminate expect_terminated(Stream& stream, const Causes& causes) {
  Terminate terminate = stream.expect_terminate(causes);
  stream.expect_end();
  return terminate;
}

void expect_failed_completion(Context& context, Endpoint& endpoint, std::uint64_t id) {
  const auto completion = endpoint.completion(context.limits().timeout);
  const std::string what = "completion " + std::to_string(id) + ", not successful";
  if (!completion) throw Failure(what, "none");
  context.expect(
      completion->id == id && completion->status != "success", what,
      "completion " + std::to_string(completion->id) + " with status " + completion->status);
}

void expect_disconnected(Context& context, Endpoint& endpoint) {
  for (;;) {
    const std::string event = endpoint.event(context.limits().timeout);
    if (event == "established") continue;
    context.expect(event == "disconnected" || event == "failed",
                   "the program is told that the connection ended", "event " + event);
    return;
  }
}

Octets read_from(Stream& stream, std::uint32_t stag, std::uint64_t to, std::uint32_t size) {
  stream.send_read_request(
      {.sink_stag = kSinkStag, .size = size, .source_stag = stag, .source_to = to});
  return expect_tagged_message(stream, kReadResponse).payload;
}

void expect_small_segments(Context& context, Stream& stream, Opcode opcode, std::size_t size) {
  std::size_t received = 0;
  while (received < size) {
    const Fpdu fpdu = stream.expect_fpdu();
    context.expect(
        fpdu.wire.size() <= kSmallSegments,
        "a DDP Segment whose FPDU fits into a TCP segment of " + count_of(kSmallSegments),
        "an FPDU of " + count_of(fpdu.wire.size()));
    const auto segment = parse_segment(fpdu.ulpdu);
    context.expect(segment && segment->opcode() == opcode,
                   "a segment of " + std::string(name_of(opcode)),
                   segment ? describe(*segment) : "a ULPDU that is none");
    received += segment->payload.size();
  }
}

Segment empty_write() { return tagged_segment(kWrite, kWildStag, kWildTo, {}); }

Segment empty_read_request(std::uint32_t msn) {
  return untagged_segment(kReadRequest, kReadQueue, msn, 0, encode(ReadRequest{}));
}

void expect_bits_ignored_when_tagged(Context& context, std::uint8_t Segment::*control,
                                     std::span<const std::uint8_t> bits) {
  Link link = context.link();
  for (const std::uint8_t each : bits) {
    Segment segment = empty_write();
    segment.*control |= each;
    link.stream.send(segment);
  }
  sync(link.stream);
}

void expect_bits_ignored_when_untagged(Context& context, std::uint8_t Segment::*control,
                                       std::span<const std::uint8_t> bits) {
  Link link = context.link();
  for (const std::uint8_t each : bits) {
    Segment segment = empty_read_request(link.stream.next_msn(kReadQueue));
    segment.*control |= each;
    link.stream.send(segment);
    expect_tagged_message(link.stream, kReadResponse);
  }
}

}  // namespace iwarp::conform
