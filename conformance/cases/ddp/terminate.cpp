#include "cases/rdma.hpp"

/// What a Terminate tells of the segment that caused it (RFC 5041 §7.1, RFC 5040 §4.8, §7.1).
namespace iwarp::conform::ddp_terminate {
namespace {

const Segment kRefusedWrite = tagged_segment(kWrite, kWildStag, kWildTo, pattern(21));
const Segment kRefusedSend = untagged_segment(kSend, 4, 1, 0, pattern(21));

Segment with_version(Segment segment, std::uint8_t version) {
  segment.ddp_control =
      static_cast<std::uint8_t>((segment.ddp_control & ~kDdpVersionMask) | version);
  return segment;
}

Segment with_reserved(Segment segment) {
  segment.ddp_control |= kDdpReserved;
  segment.rdmap_control |= kRdmapReserved;
  segment.invalidate_stag = 0x01020304;
  return segment;
}

// The header is that of `segment` as it was sent, and the length that of its ULPDU.
void expect_echo(Context& context, const Terminate& terminate, const Segment& segment) {
  const Octets ulpdu = encode(segment);
  const std::size_t size = segment.tagged() ? kTaggedHeaderSize : kUntaggedHeaderSize;
  context.expect(terminate.has_ddp_header, "a Terminate with the DDP Header (D set)", "D clear");
  context.expect_equal(terminate.ddp_header, OctetView(ulpdu).first(size),
                       "the Terminated DDP Header is as it was sent");
  context.expect(terminate.has_length, "a Terminate with the length of the segment (M set)",
                 "M clear");
  context.expect_equal(*terminate.segment_length, ulpdu.size(), "DDP Segment Length");
}

void expect_reserved_zero(Context& context, const Terminate& terminate) {
  context.expect_equal(terminate.reserved, 0, "reserved bits of the Terminate Header");
}

struct EchoRow {
  std::string_view id, title;
  Segment segment;
  Cause cause;
};

void echoes_the_header(Context& context, const EchoRow& row) {
  Link link = context.link();
  link.stream.send(row.segment);
  const Terminate terminate = expect_terminated(link.stream, {row.cause});
  expect_echo(context, terminate, row.segment);
  context.expect(!terminate.has_rdma_header, "no Terminated RDMA Header (R clear)", "R set");
  expect_reserved_zero(context, terminate);
}

const Cases kEchoed = cases_of<EchoRow>(
    Needs::kListener, echoes_the_header,
    {{"ddp.terminate-headers.tagged", "A Terminate holds the tagged header that caused it",
      kRefusedWrite, ddp_error::kInvalidStag},
     {"ddp.terminate-headers.untagged", "A Terminate holds the untagged header that caused it",
      kRefusedSend, ddp_error::kInvalidQn},
     {"ddp.terminate-headers.tagged-version",
      "A Terminate for a wrong DDP version holds the header as it came",
      with_version(kRefusedWrite, 2), ddp_error::kTaggedVersion},
     {"ddp.terminate-headers.untagged-version",
      "A Terminate for a wrong DDP version holds the untagged header as it came",
      with_version(kRefusedSend, 3), ddp_error::kUntaggedVersion},
     {"ddp.terminate-headers.reserved-tagged",
      "Reserved bits of a tagged header come back in the Terminate", with_reserved(kRefusedWrite),
      ddp_error::kInvalidStag},
     {"ddp.terminate-headers.reserved-untagged",
      "Reserved bits of an untagged header come back in the Terminate", with_reserved(kRefusedSend),
      ddp_error::kInvalidQn},
     {"ddp.terminate-headers.opcode", "A Terminate for an opcode holds the header with it",
      tagged_segment(kSend, kWildStag, kWildTo, {}), rdmap_error::kOpcode}});

// Only the segment that is wrong is told of, not the one that began its message.
void echoes_a_later_segment(Context& context) {
  const Region region = context.agent().region(100, "local_write");
  Link link = link_with_receives(context, region, 1, 100);
  const auto segments = cut_message(untagged_segment(kSend, kSendQueue, 1, 0, pattern(101)), 60);
  link.stream.send_together(segments);
  const Terminate terminate = expect_terminated(link.stream, {ddp_error::kTooLong});
  expect_echo(context, terminate, segments[1]);
}

void reports_the_first_error(Context& context) {
  Link link = context.link();
  const Segment first = untagged_segment(kSend, 4, 1, 0, pattern(8));
  link.stream.send_together({first, with_version(empty_write(), 2),
                             tagged_segment(kWrite, kWildStag, kWildTo, pattern(8)),
                             tagged_segment(kSend, 0, 0, {})});
  expect_echo(context, expect_terminated(link.stream, {ddp_error::kInvalidQn}), first);
}

void echoes_a_read_request(Context& context) {
  Link link = context.link();
  const ReadRequest request{.sink_stag = 0x11223344,
                            .sink_to = 0x5566778899AABBCC,
                            .size = 4711,
                            .source_stag = kWildStag,
                            .source_to = kWildTo};
  const Segment segment = untagged_segment(kReadRequest, kReadQueue, 1, 0, encode(request));
  link.stream.send(segment);
  const Terminate terminate = expect_terminated(link.stream, {rdmap_error::kInvalidStag});
  expect_echo(context, terminate, segment);
  expect_reserved_zero(context, terminate);
  context.expect(terminate.read_request.has_value(),
                 "a Terminate with the Terminated RDMA Header (R set)", "R clear");
  context.expect(*terminate.read_request == request, "the Read Request Header as it was sent",
                 to_hex(encode(*terminate.read_request)));
}

void echoes_a_refused_invalidation(Context& context) {
  const Region region = context.agent().region(16, "local_write");
  Link link = link_with_receives(context, region, 1, 16);
  Segment segment = untagged_segment(kSendInvalidate, kSendQueue, 1, 0, pattern(16));
  segment.invalidate_stag = kWildStag;
  link.stream.send(segment);
  const Terminate terminate = expect_terminated(
      link.stream, {rdmap_error::kCannotInvalidate, rdmap_error::kCannotInvalidateOperation,
                    rdmap_error::kInvalidStag});
  expect_echo(context, terminate, segment);
}

// RFC 5044 §8: an error of the LLP is not that of one DDP Segment.
void tells_no_header_of_an_llp_error(Context& context) {
  Link link = context.link();
  if (!link.stream.sending().crc) throw Skipped("the connection is without CRC");
  sync(link.stream);  // a stream that never had a right FPDU may end without a word
  link.stream.send(empty_write(), {.crc_xor = 1});
  const Terminate terminate = expect_terminated(link.stream, {{kLayerMpa, 0, 0x02}});
  context.expect(!terminate.has_ddp_header && !terminate.has_rdma_header,
                 "a Terminate without the headers of a message", "D or R set");
  expect_reserved_zero(context, terminate);
}

const Cases kToldOrNot{
    {"ddp.terminate-headers.later-segment",
     "A Terminate holds the header of the segment that was wrong", Needs::kAgent,
     echoes_a_later_segment},
    {"ddp.terminate-headers.first-error", "A Terminate tells of the first of several errors",
     Needs::kListener, reports_the_first_error},
    {"ddp.terminate-headers.read-request",
     "A Terminate for a Read Request holds its RDMA Header, too", Needs::kListener,
     echoes_a_read_request},
    {"ddp.terminate-headers.invalidation",
     "A Terminate for an STag that cannot be invalidated holds the DDP Header", Needs::kAgent,
     echoes_a_refused_invalidation},
    {"ddp.terminate-headers.llp", "A Terminate for an error of MPA holds no headers",
     Needs::kListener, tells_no_header_of_an_llp_error},
};

}  // namespace

Cases cases() { return joined({kEchoed, kToldOrNot}); }

}  // namespace iwarp::conform::ddp_terminate
