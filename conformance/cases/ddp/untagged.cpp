#include "cases/rdma.hpp"

/// Untagged messages, as they come in and as they leave (RFC 5041 §4.3, §5.2 to §5.4).
namespace iwarp::conform::ddp_untagged {
namespace {

struct CutRow {
  std::string_view id, title;
  std::size_t message, cut;
};

void puts_segments_together(Context& context, const CutRow& row) {
  constexpr std::size_t kBefore = 16, kBehind = 16;
  const Region region =
      context.agent().region(kBefore + row.message + kBehind, "local_write", 0x5A);
  Link link = context.link({.request = context.request(), .prepare = [&](Endpoint& endpoint) {
                              endpoint.receive(1, region, kBefore, row.message);
                            }});
  const Octets message = pattern(row.message);
  send_cut(link.stream, untagged_segment(kSend, kSendQueue, 1, 0, message), row.cut);
  const Completion completion = context.expect_completion(link.agent_end(), 1);
  context.expect_equal(completion.length, row.message, "length of the completion");
  context.expect_memory(region, 0, Octets(kBefore, 0x5A));
  context.expect_memory(region, kBefore, message);
  context.expect_memory(region, kBefore + row.message, Octets(kBehind, 0x5A));
}

const Cases kInSegments = cases_of<CutRow>(
    Needs::kAgent, puts_segments_together,
    {{"ddp.untagged.exact-fit", "A message may fill its receive to the last octet", 100, 100},
     {"ddp.untagged.segments-of-1", "A message comes in segments of one octet", 64, 1},
     {"ddp.untagged.segments-of-7", "A message comes in segments of odd size", 100, 7},
     {"ddp.untagged.two-segments", "A message comes in two segments", 100, 60},
     {"ddp.untagged.large", "A message of 1 MiB comes in segments of 1400 octets", 1 << 20, 1400},
     {"ddp.untagged.large-segments", "A message of 1 MiB comes in segments of 60000 octets",
      1 << 20, 60000}});

void tells_the_length_of_a_short_message(Context& context) {
  const Region region = context.agent().region(100, "local_write", 0x5A);
  Link link = link_with_receives(context, region, 1, 100);
  link.stream.send_message(pattern(37));
  const Completion completion = context.expect_completion(link.agent_end(), 1);
  context.expect_equal(completion.length, 37, "length of the completion");
  context.expect_memory(region, 0, pattern(37));
  context.expect_memory(region, 37, Octets(63, 0x5A));
}

void delivers_an_empty_message(Context& context) {
  const Region region = context.agent().region(64, "local_write", 0x5A);
  Link link = link_with_receives(context, region, 2, 32);
  link.stream.send_message({});
  const Completion completion = context.expect_completion(link.agent_end(), 1);
  context.expect_equal(completion.length, 0, "length of the completion");
  link.stream.send_message(pattern(32));
  context.expect_completion(link.agent_end(), 2);
  context.expect_memory(region, 0, Octets(32, 0x5A));
  context.expect_memory(region, 32, pattern(32));
}

void delivers_an_empty_message_into_nothing(Context& context) {
  const Region region = context.agent().region(8, "local_write");
  Link link = link_with_receives(context, region, 1, 0);
  link.stream.send_message({});
  const Completion completion = context.expect_completion(link.agent_end(), 1);
  context.expect_equal(completion.length, 0, "length of the completion");
}

void does_not_deliver_without_the_last_segment(Context& context) {
  const Region region = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, region, 1, 64);
  const auto segments = cut_message(untagged_segment(kSend, kSendQueue, 1, 0, pattern(64)), 32);
  link.stream.send(segments[0]);
  context.expect_no_completion(link.agent_end());
  link.stream.send(segments[1]);
  context.expect_completion(link.agent_end(), 1);
  context.expect_memory(region, 0, pattern(64));
}

void takes_receives_in_order(Context& context) {
  constexpr std::size_t kCount = 50, kSize = 16;
  const Region region = context.agent().region(kCount * kSize, "local_write");
  Link link = link_with_receives(context, region, kCount, kSize);
  Octets all;
  for (std::size_t i = 0; i < kCount; ++i) {
    const Octets message = pattern(kSize, static_cast<std::uint8_t>(i));
    link.stream.send_message(message);
    put(all, message);
  }
  for (std::size_t i = 0; i < kCount; ++i) context.expect_completion(link.agent_end(), i + 1);
  context.expect_memory(region, 0, all);
}

// More messages than an octet counts; a receive is posted again once it was used.
void counts_msns_beyond_an_octet(Context& context) {
  constexpr std::size_t kCount = 300, kReceives = 50, kSize = 8;
  const Region region = context.agent().region(kReceives * kSize, "local_write");
  Link link = link_with_receives(context, region, kReceives, kSize);
  for (std::size_t i = 0; i < kCount; ++i) {
    link.stream.send_message(pattern(kSize, static_cast<std::uint8_t>(i)));
    context.expect_completion(link.agent_end(), i + 1);
    const std::size_t next = i + 1 + kReceives;
    link.agent_end().receive(next, region, i % kReceives * kSize, kSize);
  }
}

void counts_each_queue_by_itself(Context& context) {
  const Region region = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, region, 4, 16);
  for (std::uint64_t id = 1; id <= 4; ++id) {
    link.stream.send_message(pattern(16));
    sync(link.stream);
    context.expect_completion(link.agent_end(), id);
  }
}

const Cases kDelivered{
    {"ddp.untagged.short", "A message shorter than its receive tells its length", Needs::kAgent,
     tells_the_length_of_a_short_message},
    {"ddp.untagged.empty", "An empty message takes a receive", Needs::kAgent,
     delivers_an_empty_message},
    {"ddp.untagged.empty-into-empty", "A receive without memory takes an empty message",
     Needs::kAgent, delivers_an_empty_message_into_nothing},
    {"ddp.untagged.last-missing", "A message is delivered with its last segment, not before",
     Needs::kAgent, does_not_deliver_without_the_last_segment},
    {"ddp.untagged.order", "Messages take receives, and are delivered, in order", Needs::kAgent,
     takes_receives_in_order},
    {"ddp.untagged.msn-counts", "MSNs count on beyond 255", Needs::kAgent,
     counts_msns_beyond_an_octet},
    {"ddp.untagged.msn-per-queue", "Each queue has MSNs of its own", Needs::kAgent,
     counts_each_queue_by_itself},
};

// --- messages of the target ---

struct SentRow {
  std::string_view id, title;
  std::size_t size;
};

void sends_a_message(Context& context, const SentRow& row) {
  const Region region = context.agent().region(row.size + 8, "local_write");
  const Octets message = pattern(row.size);
  context.agent().store(region, 0, message);
  Link link = talking_link(context);
  link.agent_end().send(1, region, 0, row.size);
  const UntaggedMessage sent = expect_untagged_message(link.stream, kSend, kSendQueue);
  context.expect_equal(sent.msn, 1, "MSN of the first message");
  context.expect_equal(sent.payload, message, "the message is the one posted");
  if (row.size == 0) context.expect_equal(sent.segments, 1, "segments of an empty message");
  context.expect_completion(link.agent_end(), 1);
}

const Cases kSizesSent = cases_of<SentRow>(
    Needs::kAgent, sends_a_message,
    {{"ddp.untagged.sent-empty", "The target sends an empty message as one segment", 0},
     {"ddp.untagged.sent-octet", "The target sends a message of one octet", 1},
     {"ddp.untagged.sent-page", "The target sends a message of 4096 octets", 4096},
     {"ddp.untagged.sent-64k", "The target sends a message of 65536 octets", 65536},
     {"ddp.untagged.sent-large", "The target sends a message of a million octets", 1000003}});

void counts_its_msns(Context& context) {
  constexpr std::size_t kCount = 300;
  const Region region = context.agent().region(8, "local_write");
  Link link = talking_link(context);
  for (std::size_t i = 1; i <= kCount; ++i) {
    link.agent_end().send(i, region, 0, 8);
    const UntaggedMessage sent = expect_untagged_message(link.stream, kSend, kSendQueue);
    context.expect_equal(sent.msn, i, "MSN");
    context.expect_completion(link.agent_end(), i);
  }
}

void keeps_segments_within_the_mulpdu(Context& context) {
  constexpr std::size_t kMessage = 20000;
  const Region region = context.agent().region(kMessage, "local_write");
  Link link =
      talking_link(context, {.request = context.request(), .max_segment_size = kSmallSegments});
  link.agent_end().send(1, region, 0, kMessage);
  expect_small_segments(context, link.stream, kSend, kMessage);
  context.expect_completion(link.agent_end(), 1);
}

const Cases kSent{
    {"ddp.untagged.sent-msn", "The target's MSNs begin at 1 and count on beyond 255", Needs::kAgent,
     counts_its_msns},
    {"ddp.untagged.sent-mulpdu", "The target's segments keep within its MULPDU", Needs::kAgent,
     keeps_segments_within_the_mulpdu},
};

}  // namespace

Cases cases() { return joined({kInSegments, kDelivered, kSizesSent, kSent}); }

}  // namespace iwarp::conform::ddp_untagged
