#include "cases/rdma.hpp"

/// Untagged segments that the target must refuse (RFC 5041 §7.1).
namespace iwarp::conform::ddp_untagged_faults {
namespace {

constexpr std::size_t kReceive = 100;  // octets of each posted receive

struct QueueRow {
  std::string_view id, title;
  std::uint32_t qn;
};

// Nothing completes for a while, or something in error: then it is returned.
std::optional<Completion> expect_no_success(Context& context, Endpoint& endpoint) {
  auto completion = endpoint.completion(context.limits().quiet);
  context.expect(!completion || completion->status != "success", "no successful completion",
                 completion ? "completion " + std::to_string(completion->id) : "");
  return completion;
}

void refuses_a_queue(Context& context, const QueueRow& row) {
  Link link = context.link();
  link.stream.send(untagged_segment(kSend, row.qn, 1, 0, pattern(4)));
  expect_terminated(link.stream, {ddp_error::kInvalidQn});
}

const Cases kWrongQueues = cases_of<QueueRow>(
    Needs::kListener, refuses_a_queue,
    {{"ddp.untagged.qn-4", "A segment for queue 4 ends the stream", 4},
     {"ddp.untagged.qn-5", "A segment for queue 5 ends the stream", 5},
     {"ddp.untagged.qn-256", "A QN is not cut to 8 bits", 0x100},
     {"ddp.untagged.qn-65536", "A QN is not cut to 16 bits", 0x10000},
     {"ddp.untagged.qn-high-bit", "A QN is no signed number", 0x80000000},
     {"ddp.untagged.qn-highest", "A segment for queue 2^32-1 ends the stream", 0xFFFFFFFF}});

// Queue 3 is there if the target has Atomic Operations, but for responses that it waits for.
void refuses_queue_3(Context& context) {
  Link link = context.link();
  link.stream.send(untagged_segment(kAtomicResponse, kAtomicResponseQueue, 1, 0,
                                    encode(AtomicResponse{.id = 1})));
  expect_terminated(link.stream, {ddp_error::kInvalidQn, ddp_error::kNoBuffer, ddp_error::kMsnRange,
                                  rdmap_error::kOpcode});
}

const Cases kWithoutABuffer{
    {"ddp.untagged.qn-3", "A segment for queue 3 that nothing waits for is refused",
     Needs::kListener, refuses_queue_3},
};

struct MsnRow {
  std::string_view id, title;
  std::uint32_t msn;
};

// Two receives: MSNs 1 and 2 have a buffer.
void refuses_an_msn(Context& context, const MsnRow& row) {
  const Region region = context.agent().region(2 * kReceive, "local_write");
  Link link = link_with_receives(context, region, 2, kReceive);
  link.stream.send(untagged_segment(kSend, kSendQueue, row.msn, 0, pattern(8)));
  expect_terminated(link.stream, {ddp_error::kMsnRange, ddp_error::kNoBuffer});
  context.expect_untouched(region);
  expect_failed_completion(context, link.agent_end(), 1);
}

const Cases kWrongMsns = cases_of<MsnRow>(
    Needs::kAgent, refuses_an_msn,
    {{"ddp.untagged.msn-0", "The first message of a queue cannot have MSN 0", 0},
     {"ddp.untagged.msn-3-of-2", "An MSN behind the last receive is refused", 3},
     {"ddp.untagged.msn-257", "An MSN is not cut to 8 bits", 0x101},
     {"ddp.untagged.msn-65537", "An MSN is not cut to 16 bits", 0x10001},
     {"ddp.untagged.msn-high-bit", "An MSN far ahead is refused", 0x80000001},
     {"ddp.untagged.msn-highest", "An MSN just behind the expected one is refused", 0xFFFFFFFF}});

void refuses_an_msn_of_reads(Context& context, const MsnRow& row) {
  Link link = context.link();
  link.stream.send(empty_read_request(row.msn));
  expect_terminated(link.stream, {ddp_error::kMsnRange, ddp_error::kNoBuffer});
}

const Cases kWrongMsnsOfReads = cases_of<MsnRow>(
    Needs::kListener, refuses_an_msn_of_reads,
    {{"ddp.untagged.msn-0-of-reads", "The first Read Request cannot have MSN 0", 0},
     {"ddp.untagged.msn-far-of-reads", "A Read Request with an MSN far ahead is refused",
      0x10001}});

void refuses_a_repeated_msn(Context& context) {
  const Region region = context.agent().region(2 * kReceive, "local_write");
  Link link = link_with_receives(context, region, 2, kReceive);
  const Segment message = untagged_segment(kSend, kSendQueue, 1, 0, pattern(8));
  link.stream.send(message);
  context.expect_completion(link.agent_end(), 1);
  link.stream.send(message);
  expect_terminated(link.stream, {ddp_error::kMsnRange});
  expect_failed_completion(context, link.agent_end(), 2);
}

void refuses_a_repeated_msn_of_reads(Context& context) {
  Link link = context.link();
  link.stream.send(empty_read_request(1));
  expect_tagged_message(link.stream, kReadResponse);
  link.stream.send(empty_read_request(1));
  expect_terminated(link.stream, {ddp_error::kMsnRange});
}

// MSN 2 has a buffer, so a Data Sink may place it; but nothing may deliver it without MSN 1.
void does_not_deliver_behind_a_gap(Context& context) {
  const Region region = context.agent().region(2 * kReceive, "local_write");
  Link link = link_with_receives(context, region, 2, kReceive);
  link.stream.send(untagged_segment(kSend, kSendQueue, 2, 0, pattern(8)));
  expect_no_success(context, link.agent_end());
}

// Message 2 comes while message 1 lacks its last segment: it is an error, or has to wait.
void keeps_the_order_of_interleaved_messages(Context& context) {
  const Region region = context.agent().region(2 * kReceive, "local_write");
  Link link = link_with_receives(context, region, 2, kReceive);
  const Octets first = pattern(40), second = pattern(8, 2);
  const auto segments = cut_message(untagged_segment(kSend, kSendQueue, 1, 0, first), 20);
  link.stream.send(segments[0]);
  link.stream.send(untagged_segment(kSend, kSendQueue, 2, 0, second));
  if (!expect_no_success(context, link.agent_end())) {
    link.stream.send(segments[1]);
    const auto completion = link.agent_end().completion(context.limits().timeout);
    if (completion && completion->status == "success") {
      context.expect_equal(completion->id, 1, "receive that completes first");
      context.expect_completion(link.agent_end(), 2);
      context.expect_memory(region, 0, first);
      context.expect_memory(region, kReceive, second);
      return;
    }
  }
  expect_terminated(link.stream, {ddp_error::kMsnRange, ddp_error::kInvalidMo});
}

// RFC 5041 §7.1: the lack of a buffer may also be bridged by means of the LLP, until there is one.
void refuses_what_has_no_receive(Context& context) {
  const Region region = context.agent().region(kReceive, "local_write");
  Link link = context.link();
  const Octets message = pattern(8);
  link.stream.send_message(message);
  if (link.stream.says_something()) {
    expect_terminated(link.stream, {ddp_error::kNoBuffer});
    return;
  }
  context.note("the target waits for a receive");
  link.agent_end().receive(1, region, 0, kReceive);
  context.expect_completion(link.agent_end(), 1);
  context.expect_memory(region, 0, message);
}

void refuses_what_has_no_second_receive(Context& context) {
  const Region region = context.agent().region(2 * kReceive, "local_write");
  Link link = link_with_receives(context, region, 1, kReceive);
  link.stream.send_message(pattern(8));
  context.expect_completion(link.agent_end(), 1);
  link.stream.send_message(pattern(8, 2));
  if (link.stream.says_something()) {
    expect_terminated(link.stream, {ddp_error::kNoBuffer});
    return;
  }
  context.note("the target waits for a receive");
  link.agent_end().receive(2, region, kReceive, kReceive);
  context.expect_completion(link.agent_end(), 2);
  context.expect_memory(region, kReceive, pattern(8, 2));
}

const Cases kOutOfOrder{
    {"ddp.untagged.msn-repeated", "A message that has been delivered cannot come again",
     Needs::kAgent, refuses_a_repeated_msn},
    {"ddp.untagged.msn-repeated-of-reads", "A Read Request that has been served cannot come again",
     Needs::kListener, refuses_a_repeated_msn_of_reads},
    {"ddp.untagged.msn-skipped",
     "A message is not delivered before the one with the MSN in front of it", Needs::kAgent,
     does_not_deliver_behind_a_gap},
    {"ddp.untagged.interleaved",
     "A message that begins inside another one is refused or delivered behind it", Needs::kAgent,
     keeps_the_order_of_interleaved_messages},
    {"ddp.untagged.no-receive", "A Send without a posted receive ends the stream", Needs::kAgent,
     refuses_what_has_no_receive},
    {"ddp.untagged.no-second-receive", "A receive takes one message only", Needs::kAgent,
     refuses_what_has_no_second_receive},
};

struct OffsetRow {
  std::string_view id, title;
  std::uint32_t mo;
  std::size_t size;
};

void refuses_an_offset(Context& context, const OffsetRow& row) {
  const Region region = context.agent().region(2 * kReceive, "local_write");
  Link link = link_with_receives(context, region, 1, kReceive);
  link.stream.send(untagged_segment(kSend, kSendQueue, 1, row.mo, pattern(row.size)));
  expect_terminated(link.stream, {ddp_error::kInvalidMo, ddp_error::kTooLong});
  context.expect_untouched(region);
  expect_failed_completion(context, link.agent_end(), 1);
}

const Cases kWrongOffsets = cases_of<OffsetRow>(
    Needs::kAgent, refuses_an_offset,
    {{"ddp.untagged.mo-at-end", "An MO just behind the buffer is refused", kReceive, 1},
     {"ddp.untagged.mo-beyond", "An MO behind the buffer is refused", kReceive + 20, 4},
     {"ddp.untagged.mo-crossing", "An MO inside the buffer may not lead out of it", kReceive - 4,
      5},
     {"ddp.untagged.mo-highest", "MO and length are added without wrapping", 0xFFFFFFFC, 8},
     {"ddp.untagged.mo-256", "An MO is not cut to 8 bits", 0x100, 4},
     {"ddp.untagged.mo-65536", "An MO is not cut to 16 bits", 0x10000, 4}});

struct GapRow {
  std::string_view id, title;
  std::uint32_t mo;  // of the second segment, behind 20 octets
};

// A Data Sink need not verify that it got all of a message (RFC 5041 §5.2): such an MO may be
// refused, and otherwise says where the octets go.
void takes_an_offset_at_its_word(Context& context, const GapRow& row) {
  const Region region = context.agent().region(kReceive, "local_write");
  Link link = link_with_receives(context, region, 1, kReceive);
  const Octets payload = pattern(10, 2);
  link.stream.send(untagged_segment(kSend, kSendQueue, 1, 0, pattern(20), false));
  link.stream.send(untagged_segment(kSend, kSendQueue, 1, row.mo, payload));
  const auto completion = link.agent_end().completion(context.limits().timeout);
  if (completion && completion->status == "success") {
    context.expect_memory(region, row.mo, payload);
    return;
  }
  expect_terminated(link.stream, {ddp_error::kInvalidMo});
  context.expect_memory(region, 20, Octets(kReceive - 20, 0));
}

const Cases kOddOffsets = cases_of<GapRow>(
    Needs::kAgent, takes_an_offset_at_its_word,
    {{"ddp.untagged.mo-gap", "An MO that leaves a gap is refused or obeyed", 30},
     {"ddp.untagged.mo-backwards", "An MO that goes back is refused or obeyed", 10},
     {"ddp.untagged.mo-again-0", "An MO of 0 in a later segment is refused or obeyed", 0}});

struct LengthRow {
  std::string_view id, title;
  std::size_t receive, message, cut;
};

void refuses_a_message_too_long(Context& context, const LengthRow& row) {
  const Region region = context.agent().region(2 * kReceive, "local_write");
  Link link = link_with_receives(context, region, 1, row.receive);
  const auto segments =
      cut_message(untagged_segment(kSend, kSendQueue, 1, 0, pattern(row.message)), row.cut);
  link.stream.send_together(segments);
  expect_terminated(link.stream, {ddp_error::kTooLong});
  // What came in front of the segment that does not fit may be there, and nothing else.
  const std::size_t before = (segments.size() - 1) * row.cut;
  const Octets rest = context.agent().fetch(region, before, region.size - before);
  context.expect_equal(rest, Octets(rest.size(), 0),
                       "nothing of the segment that does not fit was placed");
  expect_failed_completion(context, link.agent_end(), 1);
}

const Cases kLongMessages = cases_of<LengthRow>(
    Needs::kAgent, refuses_a_message_too_long,
    {{"ddp.untagged.too-long", "A message one octet longer than its receive is refused", kReceive,
      kReceive + 1, kReceive + 1},
     {"ddp.untagged.too-long-second", "A message that exceeds its receive by its second segment",
      kReceive, kReceive + 1, 60},
     {"ddp.untagged.too-long-third", "A message that exceeds its receive by its third segment",
      kReceive, kReceive + 1, 50},
     {"ddp.untagged.too-long-for-empty", "A receive without memory takes no octet", 0, 1, 1}});

// What follows the error is right, but comes too late.
void drops_what_follows_an_error(Context& context) {
  const Region region = context.agent().region(2 * kReceive, "local_write,remote_write");
  Link link = link_with_receives(context, region, 1, kReceive);
  link.stream.send_together({
      untagged_segment(kSend, 4, 1, 0, pattern(8)),
      untagged_segment(kSend, kSendQueue, 1, 0, pattern(8)),
      tagged_segment(kWrite, region.stag, region.address + kReceive, pattern(8)),
      empty_read_request(1),
  });
  expect_terminated(link.stream, {ddp_error::kInvalidQn});
  expect_failed_completion(context, link.agent_end(), 1);
  context.expect_untouched(region);
  context.expect_target_alive();
}

const Cases kBehindAnError{
    {"ddp.untagged.after-error", "Segments behind an error are dropped silently", Needs::kAgent,
     drops_what_follows_an_error},
};

}  // namespace

Cases cases() {
  return joined({kWrongQueues, kWithoutABuffer, kWrongMsns, kWrongMsnsOfReads, kOutOfOrder,
                 kWrongOffsets, kOddOffsets, kLongMessages, kBehindAnError});
}

}  // namespace iwarp::conform::ddp_untagged_faults
