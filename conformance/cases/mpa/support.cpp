#include "cases/mpa/support.hpp"

#include <deque>

#include "harness/messages.hpp"

namespace iwarp::conform {
namespace {

constexpr std::uint8_t kReservedFlags = 0x0F;  // S was one of them in revision 1
constexpr std::uint64_t kReceiveId = 900, kSendId = 901;

std::string hex_flags(std::uint8_t flags) { return "flags " + hex_number(flags, 2); }

std::optional<Rtr> rtr_of(const Segment& segment) {
  if (!segment.last() || segment.mo != 0) return std::nullopt;
  if (segment.opcode() == kSend && segment.payload.empty()) return Rtr::kSend;
  if (segment.opcode() == kWrite && segment.payload.empty()) return Rtr::kWrite;
  if (segment.opcode() != kReadRequest) return std::nullopt;
  const auto request = parse_read_request(segment.payload);
  if (!request || request->size != 0) return std::nullopt;
  return Rtr::kRead;
}

void expect_from_target(Context& context, Link& link) {
  const Octets message = pattern(70, 2);
  post_send(context, link.agent_end(), message, kSendId);
  context.expect_equal(expect_message(link.stream), message, "the target's message is as posted");
  context.expect_completion(link.agent_end(), kSendId);
}

}  // namespace

std::string name_of(Rtr kind) {
  switch (kind) {
    case Rtr::kSend: return "empty Send";
    case Rtr::kWrite: return "empty RDMA Write";
    case Rtr::kRead: return "empty RDMA Read";
  }
  return {};
}

bool offers(const EnhancedData& data, Rtr kind) {
  switch (kind) {
    case Rtr::kSend: return data.send_rtr;
    case Rtr::kWrite: return data.write_rtr;
    case Rtr::kRead: return data.read_rtr;
  }
  return false;
}

void send_rtr(Stream& stream, Rtr kind) {
  switch (kind) {
    case Rtr::kSend: return stream.send_message({});
    case Rtr::kWrite: return stream.write(0, 0, {});
    case Rtr::kRead: break;
  }
  stream.send_read_request({});
  const Segment response = stream.expect_segment_of(kReadResponse);
  if (!response.payload.empty() || !response.last()) {
    throw Failure("an empty RDMA Read Response", describe(response));
  }
}

Rtr expect_rtr(Stream& stream, const EnhancedData& reply) {
  const std::string what = "an RTR indication that the Reply allows";
  const Segment segment = stream.expect_segment(what);
  const auto kind = rtr_of(segment);
  if (!kind || !offers(reply, *kind)) throw Failure(what, describe(segment));
  stream.transcript().note("the RTR indication is an " + name_of(*kind));
  if (*kind == Rtr::kRead) answer_read(stream, segment);
  return *kind;
}

StartupFrame plain_request(const Context& context, std::uint8_t revision) {
  StartupFrame request = context.request();
  request.flags &= static_cast<std::uint8_t>(~kFlagEnhanced);
  request.revision = revision;
  request.enhanced.reset();
  return request;
}

StartupFrame enhanced_request(const Context& context, std::uint16_t ird, std::uint16_t ord) {
  StartupFrame request = context.request();
  if (!request.enhanced) throw Skipped("enhanced connection data needs revision 2");
  request.enhanced->ird = ird;
  request.enhanced->ord = ord;
  return request;
}

void expect_sound(Context& context, const StartupFrame& frame, bool is_reply) {
  context.expect(frame.revision == 1 || frame.revision == 2, "revision 1 or 2",
                 std::to_string(frame.revision));
  const auto reserved = static_cast<std::uint8_t>(
      kReservedFlags | (frame.revision == 1 ? kFlagEnhanced : 0) | (is_reply ? 0 : kFlagReject));
  context.expect((frame.flags & reserved) == 0, "reserved flags of zero", hex_flags(frame.flags));
  if (!frame.says_enhanced()) return;
  context.expect(frame.enhanced.has_value(), "enhanced connection data behind S",
                 "a PD_Length of " + std::to_string(*frame.stated_length));
  const EnhancedData& data = *frame.enhanced;
  context.expect(data.peer_to_peer || !(data.send_rtr || data.write_rtr || data.read_rtr),
                 "flags B, C and D only beside A", "some without A");
}

Link establish(Context& context, Context::Call call, std::optional<StartupFrame> reply,
               Answer* details) {
  if (!reply) reply = context.reply_to(call.request);
  call.stream.send(*reply);
  return establish_answered(context, std::move(call), *reply, details);
}

Link establish_answered(Context& context, Context::Call call, const StartupFrame& reply,
                        Answer* details) {
  Link link = context.answered(std::move(call), reply);
  if (reply.enhanced && reply.enhanced->peer_to_peer) expect_rtr(link.stream, *reply.enhanced);
  const Answer answer = context.expect_event(link.agent_end(), {"established"});
  if (details != nullptr) *details = answer;
  return link;
}

void expect_no_connection(Context& context, Stream& stream) {
  stream.expect_end();
  if (!context.has_agent()) return;
  try {
    context.agent().await(milliseconds(0));
  } catch (const AgentError& error) {
    return context.expect(error.is("ETIMEDOUT"), "no connection request at the agent",
                          error.what());
  }
  throw Failure("no connection request at the agent", "one");
}

std::optional<Answer> accept_if_asked(Context& context) {
  if (!context.has_agent()) return std::nullopt;
  try {
    const Answer asked = context.agent().await(context.limits().quiet);
    Endpoint(context.agent(), asked.number("endpoint")).accept();
    return asked;
  } catch (const AgentError& error) {
    context.note(error.what());
    return std::nullopt;
  }
}

void expect_nothing_more(Stream& stream) {
  if (stream.says_something()) stream.expect_end();
}

void expect_failed_call(Context& context, Context::Call& call) {
  // Whether CRCs are in use was not agreed on.
  call.stream.begin_full_operation({}, {.crc = false, .markers = false});
  call.stream.expect_refusal({kImproperFrame});
  context.expect_event(call.endpoint, {"failed", "rejected", "disconnected"});
}

Octets expect_message(Stream& stream) {
  return expect_untagged_message(stream, kSend, kSendQueue).payload;
}

void post_send(Context& context, Endpoint& endpoint, OctetView octets, std::uint64_t id) {
  Agent& agent = context.agent();
  const Region source = agent.region(std::max<std::size_t>(octets.size(), 1), "local_write");
  if (!octets.empty()) agent.store(source, 0, octets);
  endpoint.send(id, source, 0, octets.size());
}

void answer_read(Stream& stream, const Segment& request) {
  const auto read = parse_read_request(request.payload);
  if (!read) throw Failure("an RDMA Read Request of 28 octets", describe(request));
  stream.send(tagged_segment(kReadResponse, read->sink_stag, read->sink_to, pattern(read->size)));
}

void expect_reads_at_once(Context& context, Link& link, std::size_t depth) {
  constexpr std::size_t kWaiting = 2, kSize = 8;
  constexpr std::uint64_t kFirstId = 100;
  Endpoint& endpoint = link.agent_end();
  const Region sink = context.agent().region(kSize, "local_write,remote_write");
  for (std::size_t i = 0; i < depth + kWaiting; ++i) {
    endpoint.read(kFirstId + i, sink, kSize, 0x1000, 0);
  }
  std::deque<Segment> requests;
  const auto expect_request = [&] {
    requests.push_back(link.stream.expect_segment_of(kReadRequest));
  };
  for (std::size_t i = 0; i < depth; ++i) expect_request();
  link.stream.expect_quiet("the other Reads wait");
  for (std::size_t i = 0; i < depth + kWaiting; ++i) {
    answer_read(link.stream, requests.front());
    requests.pop_front();
    if (i < kWaiting) expect_request();
    context.expect_completion(endpoint, kFirstId + i);
  }
}

void expect_empty_reads(Context& context, Stream& stream, std::size_t reads) {
  constexpr std::uint32_t kFirstStag = 0x2000;
  Octets all;
  for (std::uint32_t i = 0; i < reads; ++i) {
    const ReadRequest read{.sink_stag = kFirstStag + i};
    put(all, stream.frame(untagged_segment(kReadRequest, kReadQueue, stream.next_msn(kReadQueue), 0,
                                           encode(read))));
  }
  stream.send_octets(all);
  for (std::uint32_t i = 0; i < reads; ++i) {
    const Segment response = stream.expect_segment_of(kReadResponse);
    context.expect(response.stag == kFirstStag + i && response.payload.empty(),
                   "an empty Response to Read " + std::to_string(i), describe(response));
  }
}

WritableLink writable_link(Context& context, std::size_t size, LinkOptions options) {
  const Region memory = context.agent().region(size, "local_write,remote_write");
  Link link = context.link(options);
  link.stream.write(0, 0, {});
  return {memory, std::move(link)};
}

WritableLink writable_link(Context& context, std::size_t size) {
  return writable_link(context, size, {.request = context.request()});
}

void expect_all_placed(Context& context, Link& link) {
  const Octets message = pattern(50, 1);
  const Region sink = context.agent().region(64, "local_write");
  link.agent_end().receive(kReceiveId, sink, 0, sink.size);
  link.stream.send_message(message);
  const Completion completion = context.expect_completion(link.agent_end(), kReceiveId);
  context.expect_equal(completion.length, message.size(), "length of the message that came");
  context.expect_memory(sink, 0, message);
}

void expect_traffic(Context& context, Link& link) {
  if (!link.endpoint) {
    if (link.reply.enhanced && link.reply.enhanced->ird == 0) return;
    link.stream.send_read_request({});
    while (link.stream.expect_segment("an RDMA Read Response").opcode() != kReadResponse) {
      context.note("passed over: the target's program has something to say");
    }
    return;
  }
  // A responder must not send before the initiator.
  const bool target_called = link.reply.key == octets(kRequestKey);
  if (target_called) expect_from_target(context, link);
  expect_all_placed(context, link);
  if (!target_called) expect_from_target(context, link);
}

void expect_crc_is(Context& context, Link& link, bool in_use) {
  const Octets message = pattern(20, 4);
  const Region sink = context.agent().region(32, "local_write");
  link.agent_end().receive(kReceiveId, sink, 0, sink.size);
  link.stream.send(
      untagged_segment(kSend, kSendQueue, link.stream.next_msn(kSendQueue), 0, message),
      {.crc_xor = 0xDEADBEEF});
  if (in_use) {
    link.stream.expect_refusal({kCrcError});
    return context.expect_untouched(sink);
  }
  context.expect_completion(link.agent_end(), kReceiveId);
  context.expect_memory(sink, 0, message);
}

void expect_service(Context& context) {
  Link link = context.another_link();
  expect_traffic(context, link);
}

}  // namespace iwarp::conform
