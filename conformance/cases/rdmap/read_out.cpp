#include "cases/rdma.hpp"

/// RDMA Reads by the target: what it asks and what it makes of the responses (RFC 5040 §5.2, §6.1).
namespace iwarp::conform::rdmap_read_out {
namespace {

using ddp_error::kBounds, ddp_error::kInvalidStag, ddp_error::kNotAssociated, ddp_error::kToWrap;

// On some stacks the sink of a Read must be open for remote writing.
constexpr const char* kSinkAccess = "local_write,remote_write";
constexpr std::uint32_t kSource = 0xFACE0FF5;
constexpr std::uint64_t kSourceTo = 0x123456789A;

Segment response_to(const ReadRequest& request, Octets payload) {
  return tagged_segment(kReadResponse, request.sink_stag, request.sink_to, std::move(payload));
}

/// A connection on which the target has asked for `size` octets into all of `sink`.
struct AskedLink {
  Region sink;
  Link link;
  ReadRequest request;
};

AskedLink asked_link(Context& context, std::size_t size) {
  context.need("read");
  const Region sink = context.agent().region(size, kSinkAccess);
  Link link = talking_link(context);
  link.agent_end().read(1, sink, size, kSource, kSourceTo);
  const ReceivedRead read = expect_read_request(link.stream);
  context.expect_equal(read.msn, 1, "MSN of the first Read Request");
  context.expect_equal(read.request.size, size, "RDMA Read Message Size");
  return {sink, std::move(link), read.request};
}

struct SizeRow {
  std::string_view id, title;
  std::size_t size, cut;
};

void reads(Context& context, const SizeRow& row) {
  AskedLink asked = asked_link(context, row.size);
  context.expect_equal(asked.request.source_stag, kSource, "source STag");
  context.expect_equal(asked.request.source_to, kSourceTo, "source TO");
  const Octets data = pattern(row.size);
  send_cut(asked.link.stream, response_to(asked.request, data), row.cut);
  context.expect_completion(asked.link.agent_end(), 1);
  context.expect_memory(asked.sink, 0, data);
}

const Cases kSizes =
    cases_of<SizeRow>(Needs::kAgent, reads,
                      {{"rdmap.read.sent-octet", "The target reads one octet", 1, 1},
                       {"rdmap.read.sent-one-segment",
                        "The target reads 1000 octets that come in one segment", 1000, 1000},
                       {"rdmap.read.sent-segments",
                        "The target reads 1000 octets that come in many segments", 1000, 7},
                       {"rdmap.read.sent-large", "The target reads 1 MiB", 1 << 20, 9000}});

void completes_with_the_last_segment(Context& context) {
  AskedLink asked = asked_link(context, 64);
  context.expect_no_completion(asked.link.agent_end());
  const auto segments = cut_message(response_to(asked.request, pattern(64)), 32);
  asked.link.stream.send(segments[0]);
  context.expect_no_completion(asked.link.agent_end());
  asked.link.stream.send(segments[1]);
  context.expect_completion(asked.link.agent_end(), 1);
  context.expect_memory(asked.sink, 0, pattern(64));
}

// STag and TO of an empty response mean nothing (RFC 5041 §5.2).
void reads_nothing(Context& context) {
  context.need("read");
  const Region sink = context.agent().region(8, kSinkAccess);
  Link link = talking_link(context);
  link.agent_end().read(1, sink, 0, kSource, kSourceTo);
  const ReceivedRead read = expect_read_request(link.stream);
  context.expect_equal(read.request.size, 0, "RDMA Read Message Size");
  link.stream.send(tagged_segment(kReadResponse, kWildStag, kWildTo, {}));
  context.expect_completion(link.agent_end(), 1);
  context.expect_untouched(sink);
}

void reads_in_order(Context& context) {
  context.need("read");
  constexpr std::uint32_t kCount = 4;
  constexpr std::size_t kSize = 32;
  std::vector<Region> sinks;
  Link link = talking_link(context);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    sinks.push_back(context.agent().region(kSize, kSinkAccess));
    link.agent_end().read(i + 1, sinks[i], kSize, kSource + i, i);
  }
  std::vector<ReadRequest> requests;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const ReceivedRead read = expect_read_request(link.stream);
    context.expect_equal(read.msn, i + 1, "MSN");
    context.expect_equal(read.request.source_stag, kSource + i, "source STag");
    requests.push_back(read.request);
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    link.stream.send(response_to(requests[i], pattern(kSize, static_cast<std::uint8_t>(i))));
    context.expect_completion(link.agent_end(), i + 1);
    context.expect_memory(sinks[i], 0, pattern(kSize, static_cast<std::uint8_t>(i)));
  }
}

void completes_in_posting_order(Context& context) {
  AskedLink asked = asked_link(context, 16);
  const Region region = context.agent().region(16, "local_write");
  asked.link.agent_end().send(2, region, 0, 16);
  context.expect_no_completion(asked.link.agent_end());
  asked.link.stream.send(response_to(asked.request, pattern(16)));
  context.expect_completion(asked.link.agent_end(), 1);
  context.expect_completion(asked.link.agent_end(), 2);
}

// The responder's depth is two: a third Read Request must wait.
void keeps_to_its_ord(Context& context) {
  context.need("read");
  constexpr std::uint64_t kReads = 6;
  constexpr std::size_t kDepth = 2, kSize = 16;
  const Region sink = context.agent().region(kSize, kSinkAccess);
  StartupFrame request = context.request();
  if (request.enhanced) request.enhanced->ird = kDepth;
  Link link = talking_link(context, {.request = request, .accept = "ord=2"});
  for (std::uint64_t id = 1; id <= kReads; ++id) {
    link.agent_end().read(id, sink, kSize, kSource, kSourceTo);
  }
  std::deque<ReadRequest> outstanding;
  std::uint64_t answered = 0;
  for (std::size_t i = 0; i < kDepth; ++i) {
    outstanding.push_back(expect_read_request(link.stream).request);
  }
  link.stream.expect_quiet("two Reads are outstanding");
  while (!outstanding.empty()) {
    link.stream.send(response_to(outstanding.front(), pattern(kSize)));
    outstanding.pop_front();
    context.expect_completion(link.agent_end(), ++answered);
    if (answered + outstanding.size() < kReads) {
      outstanding.push_back(expect_read_request(link.stream).request);
    }
  }
  context.expect_equal(answered, kReads, "Reads that completed");
}

// The tester answers none until it has all that were negotiated.
void uses_its_ord(Context& context) {
  context.need("read");
  constexpr std::uint64_t kDepth = 8;
  const Region sink = context.agent().region(16, kSinkAccess);
  Link link = talking_link(context, {.request = context.request(), .accept = "ord=8"});
  for (std::uint64_t id = 1; id <= kDepth; ++id) {
    link.agent_end().read(id, sink, 16, kSource, kSourceTo);
  }
  std::vector<ReadRequest> requests;
  for (std::uint64_t i = 0; i < kDepth; ++i) {
    requests.push_back(expect_read_request(link.stream).request);
  }
  for (const ReadRequest& request : requests) link.stream.send(response_to(request, pattern(16)));
  for (std::uint64_t id = 1; id <= kDepth; ++id) context.expect_completion(link.agent_end(), id);
}

const Cases kSent{
    {"rdmap.read.sent-empty", "The target reads nothing from anywhere", Needs::kAgent,
     reads_nothing},
    {"rdmap.read.sent-completes", "A Read completes when all of its response has come",
     Needs::kAgent, completes_with_the_last_segment},
    {"rdmap.read.sent-order", "The target's Reads leave and complete in posting order",
     Needs::kAgent, reads_in_order},
    {"rdmap.read.sent-behind", "What is posted behind a Read does not complete before it",
     Needs::kAgent, completes_in_posting_order},
    {"rdmap.read.sent-ord", "The target never has more Reads outstanding than agreed",
     Needs::kAgent, keeps_to_its_ord},
    {"rdmap.read.sent-ord-used", "The target has as many Reads outstanding as agreed",
     Needs::kAgent, uses_its_ord},
};

// --- responses that are wrong ---

void refuses_an_unsolicited_response(Context& context) {
  Link link = context.link();
  link.stream.send(tagged_segment(kReadResponse, kWildStag, 0, pattern(8)));
  expect_terminated(link.stream, {rdmap_error::kOpcode, kInvalidStag, kNotAssociated});
}

void refuses_a_second_response(Context& context) {
  AskedLink asked = asked_link(context, 16);
  const Segment response = response_to(asked.request, pattern(16));
  asked.link.stream.send(response);
  context.expect_completion(asked.link.agent_end(), 1);
  asked.link.stream.send(response);
  expect_terminated(asked.link.stream, {rdmap_error::kOpcode, kInvalidStag, kNotAssociated});
}

const Cases kNotAskedFor{
    {"rdmap.read.response-unsolicited", "A Read Response that nothing asked for is refused",
     Needs::kListener, refuses_an_unsolicited_response},
    {"rdmap.read.response-again", "A Read Response cannot come twice", Needs::kAgent,
     refuses_a_second_response},
};

struct WrongRow {
  std::string_view id, title;
  /// A response of the wrong kind to a Read of 16 octets.
  std::function<Segment(const ReadRequest&)> response;
  Causes causes;
};

// The sink has not one octet more than was asked for, so each of these leads out of it.
void refuses_a_response(Context& context, const WrongRow& row) {
  AskedLink asked = asked_link(context, 16);
  asked.link.stream.send(row.response(asked.request));
  expect_terminated(asked.link.stream, row.causes);
  context.expect_untouched(asked.sink);
  expect_failed_completion(context, asked.link.agent_end(), 1);
}

const Cases kWrongResponses = cases_of<WrongRow>(
    Needs::kAgent, refuses_a_response,
    {{"rdmap.read.response-other-stag",
      "A Read Response to another STag is refused",
      [](const ReadRequest& request) {
        return tagged_segment(kReadResponse, request.sink_stag ^ 0x55AA5500, request.sink_to,
                              pattern(16));
      },
      {kInvalidStag, kNotAssociated}},
     {"rdmap.read.response-beyond",
      "A Read Response that begins behind the sink is refused",
      [](const ReadRequest& request) {
        return tagged_segment(kReadResponse, request.sink_stag, request.sink_to + 16, pattern(1));
      },
      {kBounds}},
     {"rdmap.read.response-shifted",
      "A Read Response that leads out of the sink is refused",
      [](const ReadRequest& request) {
        return tagged_segment(kReadResponse, request.sink_stag, request.sink_to + 1, pattern(16));
      },
      {kBounds}},
     {"rdmap.read.response-below",
      "A Read Response that begins below the sink is refused",
      [](const ReadRequest& request) {
        return tagged_segment(kReadResponse, request.sink_stag, request.sink_to - 1, pattern(16));
      },
      {kBounds, kToWrap}},
     {"rdmap.read.response-long",
      "A Read Response longer than asked for is refused",
      [](const ReadRequest& request) { return response_to(request, pattern(17)); },
      {kBounds}}});

void refuses_a_response_too_long_by_a_segment(Context& context) {
  AskedLink asked = asked_link(context, 16);
  const auto segments = cut_message(response_to(asked.request, pattern(17)), 16);
  asked.link.stream.send_together(segments);
  expect_terminated(asked.link.stream, {kBounds});
  expect_failed_completion(context, asked.link.agent_end(), 1);
}

// The sink's STag is open, but not to what is no Read Response.
void refuses_another_opcode(Context& context) {
  AskedLink asked = asked_link(context, 16);
  Segment segment = response_to(asked.request, pattern(16));
  segment.rdmap_control = kRdmapVersion | kSend;
  asked.link.stream.send(segment);
  expect_terminated(asked.link.stream, {rdmap_error::kOpcode});
  expect_failed_completion(context, asked.link.agent_end(), 1);
}

// A Data Sink may compare the length with that asked for, or take the last segment's word.
void ends_with_a_short_response(Context& context) {
  AskedLink asked = asked_link(context, 16);
  asked.link.stream.send(response_to(asked.request, pattern(8)));
  const auto completion = asked.link.agent_end().completion(context.limits().timeout);
  context.expect(completion.has_value(), "the Read's completion, in whichever way", "none");
  if (completion->status == "success") {
    context.expect_memory(asked.sink, 0, pattern(8));
    context.expect_memory(asked.sink, 8, Octets(8, 0));
  } else {
    expect_terminated(asked.link.stream, {});
  }
}

const Cases kOddResponses{
    {"rdmap.read.response-long-second",
     "A Read Response that is too long by its second segment is refused", Needs::kAgent,
     refuses_a_response_too_long_by_a_segment},
    {"rdmap.read.response-opcode", "A tagged Send is no response to a Read", Needs::kAgent,
     refuses_another_opcode},
    {"rdmap.read.response-short", "A Read Response shorter than asked for ends the Read",
     Needs::kAgent, ends_with_a_short_response},
};

// --- Reads that are never answered ---

void fails_when_the_responder_refuses(Context& context) {
  AskedLink asked = asked_link(context, 16);
  const Octets ulpdu =
      encode(untagged_segment(kReadRequest, kReadQueue, 1, 0, encode(asked.request)));
  Terminate terminate{.cause = rdmap_error::kAccess,
                      .has_length = true,
                      .has_ddp_header = true,
                      .has_rdma_header = true,
                      .segment_length = static_cast<std::uint16_t>(ulpdu.size()),
                      .ddp_header = {ulpdu.begin(), ulpdu.begin() + kUntaggedHeaderSize},
                      .read_request = asked.request};
  asked.link.stream.send(untagged_segment(kTerminate, kTerminateQueue, 1, 0, encode(terminate)));
  expect_failed_completion(context, asked.link.agent_end(), 1);
  asked.link.stream.expect_end(Stream::Before::kTerminate);
  context.expect_untouched(asked.sink);
}

void fails_when_the_connection_ends(Context& context) {
  AskedLink asked = asked_link(context, 16);
  asked.link.stream.reset();
  expect_failed_completion(context, asked.link.agent_end(), 1);
  expect_disconnected(context, asked.link.agent_end());
}

const Cases kFailed{
    {"rdmap.read.sent-refused", "A Read that the responder refuses completes in error",
     Needs::kAgent, fails_when_the_responder_refuses},
    {"rdmap.read.sent-lost", "A Read completes in error when the connection is lost", Needs::kAgent,
     fails_when_the_connection_ends},
};

}  // namespace

Cases cases() {
  return joined({kSizes, kSent, kNotAskedFor, kWrongResponses, kOddResponses, kFailed});
}

}  // namespace iwarp::conform::rdmap_read_out
