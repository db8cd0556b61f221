#include "cases/rdma.hpp"

/// Sends of the target: their kinds, their order, their completions (RFC 5040 §5.3, §5.5).
namespace iwarp::conform::rdmap_send_out {
namespace {

struct KindRow {
  std::string_view id, title;
  agent_protocol::Operation op;
  Opcode opcode;
  bool invalidates;
};

// Larger than any MULPDU, so that several segments must agree.
void sends_a_kind(Context& context, const KindRow& row) {
  if (row.invalidates) context.need("send_inv");
  constexpr std::size_t kSize = 150000;
  constexpr std::uint32_t kStag = 0x0A0B0C0D;
  const Region region = context.agent().region(kSize, "local_write");
  const Octets message = pattern(kSize);
  context.agent().store(region, 0, message);
  Link link = talking_link(context);
  link.agent_end().post(
      1, row.op,
      part_of(region, 0, kSize) + (row.invalidates ? " invalidate=" + hex_number(kStag, 8) : ""));
  const UntaggedMessage sent = expect_untagged_message(link.stream, row.opcode, kSendQueue);
  context.expect_equal(sent.payload, message, "the message is the one posted");
  if (row.invalidates) context.expect_equal(sent.invalidate_stag, kStag, "Invalidate STag");
  context.expect_completion(link.agent_end(), 1);
}

const Cases kKinds =
    cases_of<KindRow>(Needs::kAgent, sends_a_kind,
                      {{"rdmap.send.sent-plain", "The target sends a Send", "send", kSend, false},
                       {"rdmap.send.sent-solicited", "The target sends a Send with Solicited Event",
                        "send_se", kSendSolicited, false},
                       {"rdmap.send.sent-invalidate", "The target sends a Send with Invalidate",
                        "send_inv", kSendInvalidate, true},
                       {"rdmap.send.sent-solicited-invalidate",
                        "The target sends a Send with Solicited Event and Invalidate",
                        "send_se_inv", kSendSolicitedInvalidate, true}});

void sends_an_empty_invalidation(Context& context) {
  context.need("send_inv");
  const Region region = context.agent().region(8, "local_write");
  Link link = talking_link(context);
  link.agent_end().post(1, "send_inv", part_of(region, 0, 0) + " invalidate=0x01020304");
  const UntaggedMessage sent = expect_untagged_message(link.stream, kSendInvalidate, kSendQueue);
  context.expect_equal(sent.payload.size(), 0, "length of the message");
  context.expect_equal(sent.invalidate_stag, 0x01020304, "Invalidate STag");
}

void sends_in_order(Context& context) {
  constexpr std::size_t kCount = 20, kSize = 3000;
  constexpr agent_protocol::Operation kPlain = "send", kSolicited = "send_se";
  const Region region = context.agent().region(kCount * kSize, "local_write");
  context.agent().store(region, 0, pattern(kCount * kSize));
  Link link = talking_link(context);
  for (std::size_t i = 0; i < kCount; ++i) {
    link.agent_end().send(i + 1, region, i * kSize, kSize, i % 3 == 0 ? kSolicited : kPlain);
  }
  Octets all;
  for (std::size_t i = 0; i < kCount; ++i) {
    const UntaggedMessage sent =
        expect_untagged_message(link.stream, i % 3 == 0 ? kSendSolicited : kSend, kSendQueue);
    context.expect_equal(sent.msn, i + 1, "MSN");
    put(all, sent.payload);
  }
  context.expect_equal(all, pattern(kCount * kSize), "the messages came in the order posted");
  for (std::size_t i = 0; i < kCount; ++i) context.expect_completion(link.agent_end(), i + 1);
}

void sends_different_operations_in_order(Context& context) {
  constexpr std::size_t kSize = 70000;
  constexpr std::uint32_t kStag = 0x11112222;
  const Region region = context.agent().region(kSize, "local_write");
  context.agent().store(region, 0, pattern(kSize));
  Link link = talking_link(context);
  link.agent_end().write(1, region, kSize, kStag, 0);
  link.agent_end().send(2, region, 0, 100);
  link.agent_end().write(3, region, 10, kStag, 5000);
  link.agent_end().send(4, region, 0, kSize);
  context.expect_equal(expect_tagged_message(link.stream, kWrite).payload, pattern(kSize),
                       "the first Write");
  expect_untagged_message(link.stream, kSend, kSendQueue);
  context.expect_equal(expect_tagged_message(link.stream, kWrite).to, 5000,
                       "TO of the second Write");
  expect_untagged_message(link.stream, kSend, kSendQueue);
  for (std::uint64_t id = 1; id <= 4; ++id) context.expect_completion(link.agent_end(), id);
}

// Both ends send at once, more than fits into the path; neither direction waits for the other.
void sends_while_it_receives(Context& context) {
  constexpr std::size_t kCount = 8, kSize = 50000;
  const Region sent = context.agent().region(kSize, "local_write");
  const Region received = context.agent().region(kCount * kSize, "local_write");
  context.agent().store(sent, 0, pattern(kSize));
  Link link = link_with_receives(context, received, kCount, kSize);
  sync(link.stream);
  for (std::size_t i = 0; i < kCount; ++i) {
    link.agent_end().send(100 + i, sent, 0, kSize);
    send_cut(link.stream,
             untagged_segment(kSend, kSendQueue, link.stream.next_msn(kSendQueue), 0,
                              pattern(kSize, static_cast<std::uint8_t>(i))),
             9000);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    context.expect_equal(expect_untagged_message(link.stream, kSend, kSendQueue).payload,
                         pattern(kSize), "a message of the target");
  }
  for (std::size_t i = 0; i < 2 * kCount; ++i) {
    const auto completion = link.agent_end().completion(context.limits().timeout);
    context.expect(completion && completion->status == "success", "16 successful completions",
                   completion ? "status " + completion->status : "none");
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    context.expect_memory(received, i * kSize, pattern(kSize, static_cast<std::uint8_t>(i)));
  }
}

// Whether the agent's stack takes the request; it may refuse what is posted too late.
bool takes_send(Context& context, Endpoint& endpoint, std::uint64_t id, const Region& region) {
  try {
    endpoint.send(id, region, 0, 8);
    return true;
  } catch (const AgentError& error) {
    context.note(error.what());
    return false;
  }
}

void expect_completed_in_error(Context& context, Endpoint& endpoint, std::uint64_t id) {
  for (;;) {
    const auto completion = endpoint.completion(context.limits().timeout);
    context.expect(completion.has_value(), "a completion of what was posted too late", "none");
    if (completion->id != id) continue;
    context.expect(completion->status != "success", "a completion in error", completion->status);
    return;
  }
}

// Requests posted before the end leave before the FIN, later ones never (RFC 5041 §6.2.1).
void sends_all_before_the_end(Context& context) {
  constexpr std::size_t kSize = 200000;
  const Region region = context.agent().region(kSize, "local_write");
  context.agent().store(region, 0, pattern(kSize));
  Link link = talking_link(context);
  link.agent_end().send(1, region, 0, kSize);
  link.agent_end().send(2, region, 0, 100);
  link.agent_end().disconnect();
  const bool taken = takes_send(context, link.agent_end(), 3, region);
  context.expect_equal(expect_untagged_message(link.stream, kSend, kSendQueue).payload,
                       pattern(kSize), "the first message");
  expect_untagged_message(link.stream, kSend, kSendQueue);
  context.expect(link.stream.expect_end() == Tcp::Got::kFin, "a graceful end (FIN)", "a reset");
  link.stream.shut_down_sending();
  if (taken) expect_completed_in_error(context, link.agent_end(), 3);
}

// What comes in after the target has ended its half is still received (RFC 5041 §6.2.1).
void receives_behind_its_own_end(Context& context) {
  const Region region = context.agent().region(64, "local_write,remote_write");
  Link link = talking_link(context);
  link.agent_end().disconnect();
  context.expect(link.stream.expect_end() == Tcp::Got::kFin, "a graceful end (FIN)", "a reset");
  link.stream.write(region.stag, region.address, pattern(64));
  link.stream.shut_down_sending();
  expect_disconnected(context, link.agent_end());
  context.expect_memory(region, 0, pattern(64));
}

const Cases kSent{
    {"rdmap.send.sent-empty-invalidate", "The target sends an empty Send with Invalidate",
     Needs::kAgent, sends_an_empty_invalidation},
    {"rdmap.send.sent-order", "The target's Sends leave and complete in posting order",
     Needs::kAgent, sends_in_order},
    {"rdmap.send.sent-mixed-order", "The target's Sends and Writes leave in posting order",
     Needs::kAgent, sends_different_operations_in_order},
    {"rdmap.send.both-ways", "The target sends and receives at the same time", Needs::kAgent,
     sends_while_it_receives},
    {"rdmap.send.sent-before-end", "What was posted leaves before a graceful end", Needs::kAgent,
     sends_all_before_the_end},
    {"rdmap.send.received-behind-end", "The target still receives when it has ended its own half",
     Needs::kAgent, receives_behind_its_own_end},
};

}  // namespace

Cases cases() { return joined({kKinds, kSent}); }

}  // namespace iwarp::conform::rdmap_send_out
