#include "cases/rdma.hpp"

/// Immediate Data in both directions (RFC 7306 §6).
namespace iwarp::conform::rdmap_immediate {
namespace {

constexpr std::size_t kReceive = 64;

Link immediate_link(Context& context, std::size_t receives) {
  context.need("immediate");
  const Region region = context.agent().region(receives * kReceive + 1, "local_write");
  return link_with_receives(context, region, receives, kReceive);
}

void expect_immediate(Context& context, Link& link, std::uint64_t id, OctetView expected) {
  const Completion completion = context.expect_completion(link.agent_end(), id);
  context.expect(completion.immediate.has_value(), "a completion with Immediate Data", "none");
  context.expect_equal(*completion.immediate, expected, "the Immediate Data are those sent");
}

struct KindRow {
  std::string_view id, title;
  Opcode opcode;
};

void delivers(Context& context, const KindRow& row) {
  Link link = immediate_link(context, 1);
  link.stream.send_message(pattern(8), row.opcode, kWildStag);  // which the receiver ignores
  expect_immediate(context, link, 1, pattern(8));
}

const Cases kKinds = cases_of<KindRow>(
    Needs::kAgent, delivers,
    {{"rdmap.immediate.delivered", "Immediate Data complete a receive", kImmediate},
     {"rdmap.immediate.solicited", "Immediate Data with Solicited Event complete a receive",
      kImmediateSolicited}});

void delivers_in_segments(Context& context) {
  Link link = immediate_link(context, 1);
  send_cut(link.stream, untagged_segment(kImmediate, kSendQueue, 1, 0, pattern(8)), 3);
  expect_immediate(context, link, 1, pattern(8));
}

void delivers_in_order_with_sends(Context& context) {
  Link link = immediate_link(context, 4);
  link.stream.send_message(pattern(20));
  link.stream.send_message(pattern(8, 2), kImmediate);
  link.stream.send_message(pattern(8, 3), kImmediateSolicited);
  link.stream.send_message(pattern(30, 4), kSendSolicited);
  const Completion first = context.expect_completion(link.agent_end(), 1);
  context.expect(!first.immediate, "a Send without Immediate Data", "Immediate Data");
  expect_immediate(context, link, 2, pattern(8, 2));
  expect_immediate(context, link, 3, pattern(8, 3));
  const Completion last = context.expect_completion(link.agent_end(), 4);
  context.expect(!last.immediate, "a Send without Immediate Data", "Immediate Data");
}

void shows_writes_in_front(Context& context) {
  constexpr std::size_t kSize = 100000;
  context.need("immediate");
  const Region target = context.agent().region(kSize, "local_write,remote_write");
  Link link = immediate_link(context, 1);
  send_cut(link.stream, tagged_segment(kWrite, target.stag, target.address, pattern(kSize)), 9000);
  link.stream.send_message(pattern(8), kImmediate);
  expect_immediate(context, link, 1, pattern(8));
  context.expect_memory(target, 0, pattern(kSize));
}

const Cases kDelivered{
    {"rdmap.immediate.segments", "Immediate Data may come in several segments", Needs::kAgent,
     delivers_in_segments},
    {"rdmap.immediate.order", "Immediate Data and Sends are delivered in the order sent",
     Needs::kAgent, delivers_in_order_with_sends},
    {"rdmap.immediate.behind-write", "A Write in front of Immediate Data is visible with them",
     Needs::kAgent, shows_writes_in_front},
};

struct LengthRow {
  std::string_view id, title;
  std::size_t size, cut;
};

// RFC 7306 has no code for it.
void refuses_another_length(Context& context, const LengthRow& row) {
  Link link = immediate_link(context, 1);
  send_cut(link.stream, untagged_segment(kImmediate, kSendQueue, 1, 0, pattern(row.size)), row.cut);
  expect_terminated(link.stream, {});
  expect_failed_completion(context, link.agent_end(), 1);
}

const Cases kOtherLengths = cases_of<LengthRow>(
    Needs::kAgent, refuses_another_length,
    {{"rdmap.immediate.empty", "Immediate Data of no octet end the stream", 0, 8},
     {"rdmap.immediate.seven-octets", "Immediate Data of 7 octets end the stream", 7, 8},
     {"rdmap.immediate.nine-octets", "Immediate Data of 9 octets end the stream", 9, 9},
     {"rdmap.immediate.nine-octets-in-segments",
      "Immediate Data of 9 octets in two segments end the stream", 9, 8}});

void refuses_a_version(Context& context) {
  Link link = immediate_link(context, 1);
  Segment segment = untagged_segment(kImmediate, kSendQueue, 1, 0, pattern(8));
  segment.rdmap_control = kImmediate | 0x80;  // version 2
  link.stream.send(segment);
  expect_terminated(link.stream, {rdmap_error::kVersion});
  expect_failed_completion(context, link.agent_end(), 1);
}

void refuses_without_a_receive(Context& context) {
  Link link = immediate_link(context, 0);
  link.stream.send_message(pattern(8), kImmediate);
  if (link.stream.says_something()) {
    expect_terminated(link.stream, {ddp_error::kNoBuffer});
    return;
  }
  context.note("the target waits for a receive");
  const Region region = context.agent().region(kReceive, "local_write");
  link.agent_end().receive(1, region, 0, kReceive);
  expect_immediate(context, link, 1, pattern(8));
}

const Cases kRefused{
    {"rdmap.immediate.version", "Immediate Data of RDMAP version 2 end the stream", Needs::kAgent,
     refuses_a_version},
    {"rdmap.immediate.no-receive", "Immediate Data without a receive end the stream", Needs::kAgent,
     refuses_without_a_receive},
};

// --- of the target ---

struct SentRow {
  std::string_view id, title;
  agent_protocol::Operation op;
  Opcode opcode;
};

void sends(Context& context, const SentRow& row) {
  context.need("immediate");
  Link link = talking_link(context);
  link.agent_end().post(1, row.op, "immediate=" + to_hex(pattern(8)));
  const UntaggedMessage sent = expect_untagged_message(link.stream, row.opcode, kSendQueue);
  context.expect_equal(sent.msn, 1, "MSN");
  context.expect_equal(sent.payload, pattern(8), "the Immediate Data are those posted");
  context.expect_completion(link.agent_end(), 1);
}

const Cases kKindsSent = cases_of<SentRow>(
    Needs::kAgent, sends,
    {{"rdmap.immediate.sent", "The target sends eight octets of Immediate Data", "imm", kImmediate},
     {"rdmap.immediate.sent-solicited", "The target sends Immediate Data with Solicited Event",
      "imm_se", kImmediateSolicited}});

void sends_in_order(Context& context) {
  context.need("immediate");
  const Region region = context.agent().region(32, "local_write");
  Link link = talking_link(context);
  link.agent_end().send(1, region, 0, 32);
  link.agent_end().post(2, "imm", "immediate=" + to_hex(pattern(8, 2)));
  link.agent_end().post(3, "imm_se", "immediate=" + to_hex(pattern(8, 3)));
  link.agent_end().send(4, region, 0, 32);
  const struct {
    Opcode opcode;
    Octets payload;
  } expected[] = {{kSend, Octets(32, 0)},
                  {kImmediate, pattern(8, 2)},
                  {kImmediateSolicited, pattern(8, 3)},
                  {kSend, Octets(32, 0)}};
  std::uint32_t msn = 0;
  for (const auto& each : expected) {
    const UntaggedMessage sent = expect_untagged_message(link.stream, each.opcode, kSendQueue);
    context.expect_equal(sent.msn, ++msn, "MSN on queue 0");
    context.expect_equal(sent.payload, each.payload, "what the message holds");
  }
  for (std::uint64_t id = 1; id <= 4; ++id) context.expect_completion(link.agent_end(), id);
}

void writes_with_immediate_data(Context& context) {
  context.need("immediate");
  constexpr std::size_t kSize = 100000;
  const Region region = context.agent().region(kSize, "local_write");
  context.agent().store(region, 0, pattern(kSize));
  Link link = talking_link(context);
  link.agent_end().post(1, "write_imm",
                        part_of(region, 0, kSize) +
                            " stag=0x01020304 address=0x1000 immediate=" + to_hex(pattern(8, 2)));
  const TaggedMessage write = expect_tagged_message(link.stream, kWrite);
  context.expect_equal(write.payload, pattern(kSize), "the Write holds what was posted");
  context.expect_equal(write.stag, 0x01020304, "STag");
  const UntaggedMessage sent = expect_untagged_message(link.stream, kImmediate, kSendQueue);
  context.expect_equal(sent.payload, pattern(8, 2), "the Immediate Data are those posted");
  context.expect_completion(link.agent_end(), 1);
}

const Cases kSent{
    {"rdmap.immediate.sent-order", "The target's Immediate Data leave in order with its Sends",
     Needs::kAgent, sends_in_order},
    {"rdmap.immediate.sent-write", "A Write with Immediate Data is a Write and Immediate Data",
     Needs::kAgent, writes_with_immediate_data},
};

}  // namespace

Cases cases() { return joined({kKinds, kDelivered, kOtherLengths, kRefused, kKindsSent, kSent}); }

}  // namespace iwarp::conform::rdmap_immediate
