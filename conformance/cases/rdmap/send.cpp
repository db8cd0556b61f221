#include "cases/rdma.hpp"

/// Sends to the target: where they go and what is told of them (RFC 5040 §5.3, §5.5).
namespace iwarp::conform::rdmap_send {
namespace {

void delivers_a_send(Context& context) {
  const Region region = context.agent().region(256, "local_write");
  Link link = context.link({.request = context.request(), .prepare = [&](Endpoint& endpoint) {
                              endpoint.receive(1, region, 16, 100);
                            }});
  const Octets message = pattern(60);
  link.stream.send_message(message);
  const Completion completion = context.expect_completion(link.agent_end(), 1);
  context.expect_equal(completion.length, message.size(), "length of the completion");
  context.expect_memory(region, 16, message);
}

// That it was solicited is for programs that asked for events; a plain Send never is.
void tells_no_event_of_a_plain_send(Context& context) {
  const Region region = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, region, 2, 32);
  link.stream.send_message(pattern(32));
  link.stream.send_message(pattern(32, 2), kSendSolicited);
  const Completion plain = context.expect_completion(link.agent_end(), 1);
  context.expect(!plain.solicited && !plain.immediate && plain.op == "receive",
                 "the completion of a plain Send", "op " + plain.op + ", solicited or immediate");
  const Completion solicited = context.expect_completion(link.agent_end(), 2);
  context.expect_equal(solicited.length, 32, "length of the completion");
  context.expect_memory(region, 32, pattern(32, 2));
}

// Writes in front of a Send have been placed when its receive completes.
void shows_writes_in_front(Context& context) {
  constexpr std::size_t kSize = 256 * 1024;
  const Region target = context.agent().region(kSize, "local_write,remote_write");
  const Region received = context.agent().region(16, "local_write");
  Link link = link_with_receives(context, received, 1, 16);
  const Octets data = pattern(kSize);
  send_cut(link.stream, tagged_segment(kWrite, target.stag, target.address, data), 1400);
  link.stream.send_message(pattern(16));
  context.expect_completion(link.agent_end(), 1);
  context.expect_memory(target, 0, data);
}

void delivers_all_kinds_in_order(Context& context) {
  context.need("window");
  const Region received = context.agent().region(64, "local_write");
  const Region target = context.agent().region(64, "local_write,remote_write");
  Link link = link_with_receives(context, received, 4, 16);
  sync(link.stream);
  const std::uint32_t first = link.agent_end().window(target, 0, 32, "remote_write");
  const std::uint32_t second = link.agent_end().window(target, 32, 32, "remote_write");
  Octets all;
  const struct {
    Opcode opcode;
    std::uint32_t invalidate;
  } kinds[] = {{kSend, 0},
               {kSendInvalidate, first},
               {kSendSolicited, 0},
               {kSendSolicitedInvalidate, second}};
  for (const auto& kind : kinds) {
    const Octets message = pattern(16, kind.opcode);
    link.stream.send_message(message, kind.opcode, kind.invalidate);
    put(all, message);
  }
  for (std::uint64_t id = 1; id <= 4; ++id) context.expect_completion(link.agent_end(), id);
  context.expect_memory(received, 0, all);
}

// Messages that are no Sends take no receives.
void keeps_receives_for_sends(Context& context) {
  const Region target = context.agent().region(64, "local_write,remote_write,remote_read");
  const Region received = context.agent().region(32, "local_write");
  Link link = link_with_receives(context, received, 1, 32);
  link.stream.write(target.stag, target.address, pattern(64));
  link.stream.write(kWildStag, kWildTo, {});
  context.expect_equal(read_from(link.stream, target.stag, target.address, 64), pattern(64),
                       "the Read Response holds what was written");
  context.expect_no_completion(link.agent_end());
  link.stream.send_message(pattern(32, 2));
  context.expect_completion(link.agent_end(), 1);
  context.expect_memory(received, 0, pattern(32, 2));
}

void flushes_receives_at_the_end(Context& context) {
  const Region region = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, region, 2, 32);
  link.stream.send_message(pattern(8));
  context.expect_completion(link.agent_end(), 1);
  link.stream.shut_down_sending();
  expect_failed_completion(context, link.agent_end(), 2);
  expect_disconnected(context, link.agent_end());
}

const Cases kDelivered{
    {"rdmap.send.delivered", "A Send fills the first posted receive and completes it",
     Needs::kAgent, delivers_a_send},
    {"rdmap.send.solicited", "A Send with Solicited Event is delivered as a Send", Needs::kAgent,
     tells_no_event_of_a_plain_send},
    {"rdmap.send.behind-writes", "Writes in front of a Send are visible when it completes",
     Needs::kAgent, shows_writes_in_front},
    {"rdmap.send.kinds-in-order", "Sends of all four kinds are delivered in the order sent",
     Needs::kAgent, delivers_all_kinds_in_order},
    {"rdmap.send.receives-kept", "Writes and Reads take no receive and complete nothing",
     Needs::kAgent, keeps_receives_for_sends},
    {"rdmap.send.receives-flushed", "Receives that are left at the end complete in error",
     Needs::kAgent, flushes_receives_at_the_end},
};

}  // namespace

Cases cases() { return kDelivered; }

}  // namespace iwarp::conform::rdmap_send
