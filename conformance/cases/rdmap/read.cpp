#include "cases/rdma.hpp"

/// RDMA Reads that the target serves (RFC 5040 §4.4, §5.2).
namespace iwarp::conform::rdmap_read {
namespace {

constexpr const char* kReadable = "local_write,remote_read";
constexpr std::uint32_t kSink = 0xC0FFEE11;
constexpr std::size_t kInGo = 16;                     // IRD and ORD of the tester's Requests
constexpr std::uint32_t kMoreThanBuffers = 16 << 20;  // more than sockets take

Region readable_region(Context& context, std::size_t size) {
  const Region region = context.agent().region(size, kReadable);
  context.agent().store(region, 0, pattern(size));
  return region;
}

Segment read_segment(std::uint32_t msn, const ReadRequest& request) {
  return untagged_segment(kReadRequest, kReadQueue, msn, 0, encode(request));
}

void expect_response(Context& context, Stream& stream, const ReadRequest& request,
                     OctetView expected) {
  const TaggedMessage response = expect_tagged_message(stream, kReadResponse);
  context.expect_equal(response.payload, expected, "the Read Response holds what the source does");
  if (request.size == 0) {
    context.expect_equal(response.segments, 1, "segments of an empty Read Response");
  } else {
    context.expect_equal(response.stag, request.sink_stag, "sink STag");
    context.expect_equal(response.to, request.sink_to, "sink TO");
  }
}

struct ServedRow {
  std::string_view id, title;
  std::uint32_t size;
  std::size_t offset = 0;
  std::uint32_t sink_stag = kSink;
  std::uint64_t sink_to = 0x1234567890;
};

void serves(Context& context, const ServedRow& row) {
  const Region region = readable_region(context, row.offset + row.size + 1);
  Link link = context.link();
  const ReadRequest request{.sink_stag = row.sink_stag,
                            .sink_to = row.sink_to,
                            .size = row.size,
                            .source_stag = region.stag,
                            .source_to = region.address + row.offset};
  link.stream.send_read_request(request);
  const Octets all = pattern(region.size);
  expect_response(context, link.stream, request, OctetView(all).subspan(row.offset, row.size));
}

const Cases kServed = cases_of<ServedRow>(
    Needs::kAgent, serves,
    {{"rdmap.read.empty", "An empty Read is served by an empty response", 0},
     {"rdmap.read.octet", "A Read of one octet is served", 1},
     {"rdmap.read.odd", "A Read of a few octets in the middle is served", 13, 29},
     {"rdmap.read.page", "A Read of 4096 octets is served", 4096},
     {"rdmap.read.64k", "A Read of 65536 octets is served", 65536, 1},
     {"rdmap.read.large", "A Read of 1 MiB is served", 1 << 20, 3},
     {"rdmap.read.sink-over-32-bits", "The sink TO has 64 bits", 100000, 0, kSink, 0xFFFFFFF0},
     {"rdmap.read.sink-highest", "The sink's STag and TO may be any", 100000, 0, 0xFFFFFFFF,
      0xFFFFFFFFFFFFFFFF - 100000},
     {"rdmap.read.sink-zero", "The sink's STag and TO may be zero", 100, 0, 0, 0}});

void serves_the_whole_region(Context& context) {
  const Region region = readable_region(context, 100);
  Link link = context.link();
  context.expect_equal(read_from(link.stream, region.stag, region.address, 100), pattern(100),
                       "the whole region");
  context.expect_equal(read_from(link.stream, region.stag, region.address + 99, 1),
                       OctetView(pattern(100)).subspan(99), "its last octet");
}

// RFC 5040 §5.2.1: source STag and TO of an empty Read must not be validated.
void serves_empty_reads_of_anything(Context& context) {
  Link link = context.link();
  for (const std::uint32_t stag : {0U, kWildStag, 0xFFFFFFFFU}) {
    const ReadRequest request{
        .sink_stag = kSink, .size = 0, .source_stag = stag, .source_to = kWildTo};
    link.stream.send_read_request(request);
    expect_response(context, link.stream, request, {});
  }
}

void serves_reads_in_order(Context& context) {
  constexpr std::size_t kSize = 10000;
  const Region region = readable_region(context, kSize);
  Link link = context.link();
  std::size_t count = kInGo;
  if (link.reply.enhanced) count = std::min<std::size_t>(count, link.reply.enhanced->ird);
  std::vector<ReadRequest> requests;
  std::vector<Segment> segments;
  for (std::uint32_t i = 0; i < count; ++i) {
    requests.push_back({.sink_stag = kSink + i,
                        .sink_to = 0x10000 * i,
                        .size = i % 3 == 1 ? 1 : static_cast<std::uint32_t>(kSize) - 100 * i,
                        .source_stag = region.stag,
                        .source_to = region.address + i});
    segments.push_back(read_segment(i + 1, requests.back()));
  }
  link.stream.send_together(segments);
  const Octets all = pattern(kSize);
  for (std::size_t i = 0; i < count; ++i) {
    expect_response(context, link.stream, requests[i], OctetView(all).subspan(i, requests[i].size));
  }
}

/// A connection of small IRD, whose target has as many Reads outstanding for as long as the tester
/// reads nothing: the first response does not fit into the path. Its program has posted receive 1.
struct BusyLink {
  Link link;
  Region source;
  std::uint32_t ird;

  Segment read(std::uint32_t size) {
    return read_segment(link.stream.next_msn(kReadQueue),
                        {.size = size, .source_stag = source.stag, .source_to = source.address});
  }
};

BusyLink busy_link(Context& context) {
  constexpr std::uint16_t kDepth = 3;
  const Region source = context.agent().region(kMoreThanBuffers, kReadable);
  const Region received = context.agent().region(64, "local_write");
  StartupFrame request = context.request();
  if (request.enhanced) request.enhanced->ord = kDepth;
  BusyLink busy{.link = context.link(
                    {.request = request,
                     .prepare = [&](Endpoint& endpoint) { endpoint.receive(1, received, 0, 64); },
                     .accept = "ird=3"}),
                .source = source,
                .ird = kDepth};
  if (busy.link.reply.enhanced) busy.ird = busy.link.reply.enhanced->ird;
  context.expect(busy.ird <= 1000, "an IRD near the ORD asked for", std::to_string(busy.ird));
  std::vector<Segment> segments{busy.read(kMoreThanBuffers)};
  while (segments.size() < busy.ird) segments.push_back(busy.read(1));
  busy.link.stream.send_together(segments);
  return busy;
}

// One Read too many: the target refuses it or leaves it in the stream. A target that has taken the
// Read takes the Send behind it, too.
void keeps_to_its_ird(Context& context) {
  BusyLink busy = busy_link(context);
  Stream& stream = busy.link.stream;
  stream.send_together({busy.read(1), untagged_segment(kSend, kSendQueue, 1, 0, pattern(64))});
  const auto early = busy.link.agent_end().completion(context.limits().quiet);
  context.expect(!early || early->status != "success",
                 "no Send delivered behind more Reads than IRD allows", "a successful completion");
  for (std::uint32_t answered = 0; answered <= busy.ird;) {
    const Segment segment = stream.expect_segment();
    if (segment.opcode() == kTerminate) {
      const auto terminate = parse_terminate(segment.payload);
      context.expect(terminate && (terminate->cause == ddp_error::kNoBuffer ||
                                   terminate->cause == ddp_error::kMsnRange),
                     "a Terminate for the lack of a buffer", describe(segment));
      stream.expect_end();
      return;
    }
    context.expect(segment.opcode() == kReadResponse, "a Read Response", describe(segment));
    if (segment.last()) ++answered;
  }
  context.expect_completion(busy.link.agent_end(), 1);
}

void has_room_for_its_ird(Context& context) {
  BusyLink busy = busy_link(context);
  busy.link.stream.send_message(pattern(64));
  context.expect_completion(busy.link.agent_end(), 1);
}

void serves_reads_among_sends(Context& context) {
  constexpr std::size_t kCount = 10, kSize = 3000;
  const Region region = readable_region(context, kSize);
  const Region received = context.agent().region(kCount * 16, "local_write");
  Link link = link_with_receives(context, received, kCount, 16);
  std::vector<Segment> segments;
  Octets all;
  const ReadRequest request{
      .sink_stag = kSink, .size = kSize, .source_stag = region.stag, .source_to = region.address};
  for (std::uint32_t i = 1; i <= kCount; ++i) {
    const Octets message = pattern(16, static_cast<std::uint8_t>(i));
    segments.push_back(read_segment(i, request));
    segments.push_back(untagged_segment(kSend, kSendQueue, i, 0, message));
    put(all, message);
  }
  link.stream.send_together(segments);
  for (std::size_t i = 0; i < kCount; ++i) {
    expect_response(context, link.stream, request, pattern(kSize));
    context.expect_completion(link.agent_end(), i + 1);
  }
  context.expect_memory(received, 0, all);
}

void keeps_segments_within_the_mulpdu(Context& context) {
  constexpr std::uint32_t kSize = 20000;
  const Region region = readable_region(context, kSize);
  Link link = context.link({.request = context.request(), .max_segment_size = kSmallSegments});
  link.stream.send_read_request(
      {.size = kSize, .source_stag = region.stag, .source_to = region.address});
  expect_small_segments(context, link.stream, kReadResponse, kSize);
}

// RFC 5040 §5.5, rule 12: what was written can be read back.
void serves_what_was_written(Context& context) {
  constexpr std::size_t kSize = 100000;
  const Region region = context.agent().region(kSize, "local_write,remote_write,remote_read");
  Link link = context.link();
  for (std::uint8_t seed = 1; seed <= 3; ++seed) {
    send_cut(link.stream, tagged_segment(kWrite, region.stag, region.address, pattern(kSize, seed)),
             9000);
    context.expect_equal(read_from(link.stream, region.stag, region.address, kSize),
                         pattern(kSize, seed), "the Read Response holds what was written");
  }
}

// The memory is read once the request is complete, not at its first segment.
void serves_a_request_in_segments(Context& context) {
  const Region region = context.agent().region(64, "local_write,remote_write,remote_read");
  Link link = context.link();
  const ReadRequest request{
      .sink_stag = kSink, .size = 64, .source_stag = region.stag, .source_to = region.address};
  const auto segments = cut_message(read_segment(1, request), 20);
  link.stream.send(segments[0]);
  link.stream.expect_quiet("the Read Request is not complete");
  context.agent().store(region, 0, pattern(64));
  link.stream.send(segments[1]);
  expect_response(context, link.stream, request, pattern(64));
}

void serves_while_it_sends(Context& context) {
  constexpr std::size_t kSize = 150000;
  const Region region = readable_region(context, kSize);
  Link link = talking_link(context);
  link.agent_end().send(1, region, 0, kSize);
  link.stream.send_read_request(
      {.sink_stag = kSink, .size = kSize, .source_stag = region.stag, .source_to = region.address});
  // Which of the two comes first is the target's choice; a tagged message may stand inside another.
  Octets sent, read;
  for (bool done_sending = false, done_reading = false; !done_sending || !done_reading;) {
    const Segment segment = link.stream.expect_segment();
    if (segment.opcode() == kSend) {
      context.expect_equal(segment.mo, sent.size(), "MO");
      put(sent, segment.payload);
      done_sending = segment.last();
    } else {
      context.expect(segment.opcode() == kReadResponse, "a Send or a Read Response",
                     describe(segment));
      context.expect_equal(segment.to, read.size(), "TO");
      put(read, segment.payload);
      done_reading = segment.last();
    }
  }
  context.expect_equal(sent, pattern(kSize), "the message of the target");
  context.expect_equal(read, pattern(kSize), "the Read Response");
  context.expect_completion(link.agent_end(), 1);
}

const Cases kServedOtherwise{
    {"rdmap.read.whole", "A Read may go up to the last octet", Needs::kAgent,
     serves_the_whole_region},
    {"rdmap.read.empty-anywhere", "The source of an empty Read is not validated", Needs::kListener,
     serves_empty_reads_of_anything},
    {"rdmap.read.order", "As many Reads as IRD says are served, in order", Needs::kAgent,
     serves_reads_in_order},
    {"rdmap.read.beyond-ird", "The target has no more Reads outstanding than IRD says",
     Needs::kAgent, keeps_to_its_ird},
    {"rdmap.read.ird", "The target has room for as many Reads as IRD says", Needs::kAgent,
     has_room_for_its_ird},
    {"rdmap.read.among-sends", "Reads are served among Sends", Needs::kAgent,
     serves_reads_among_sends},
    {"rdmap.read.mulpdu", "The segments of a Read Response keep within the target's MULPDU",
     Needs::kAgent, keeps_segments_within_the_mulpdu},
    {"rdmap.read.behind-write", "A Read returns what a Write in front of it placed", Needs::kAgent,
     serves_what_was_written},
    {"rdmap.read.request-in-segments", "A Read Request is served once it is complete",
     Needs::kAgent, serves_a_request_in_segments},
    {"rdmap.read.while-sending", "Responses and the target's Sends do not mix up", Needs::kAgent,
     serves_while_it_sends},
};

}  // namespace

Cases cases() { return joined({kServed, kServedOtherwise}); }

}  // namespace iwarp::conform::rdmap_read
