#include "cases/rdma.hpp"

/// Sends that invalidate an STag of the target (RFC 5040 §5.3, §7.2).
namespace iwarp::conform::rdmap_invalidate {
namespace {

constexpr std::size_t kSize = 64;
constexpr const char* kOpen = "local_write,remote_write,remote_read";

// Both tables of RFC 5040 have the code; what is wrong with the STag may be told more exactly.
const Causes kCannotInvalidate{rdmap_error::kCannotInvalidate,
                               rdmap_error::kCannotInvalidateOperation, rdmap_error::kInvalidStag,
                               rdmap_error::kNotAssociated};
const Causes kCannotInvalidateShared{rdmap_error::kCannotInvalidate,
                                     rdmap_error::kCannotInvalidateOperation,
                                     rdmap_error::kNotAssociated, rdmap_error::kAccess};

/// A connection whose target has a window on `memory` and receives for what follows.
struct WindowLink {
  Region memory, received;
  Link link;
  std::uint32_t stag;
};

WindowLink link_with_window(Context& context) {
  context.need("window");
  const Region memory = context.agent().region(kSize, kOpen);
  const Region received = context.agent().region(kSize, "local_write");
  Link link = link_with_receives(context, received, 2, kSize / 2);
  sync(link.stream);
  const std::uint32_t stag = link.agent_end().window(memory, 0, kSize, "remote_write,remote_read");
  return {memory, received, std::move(link), stag};
}

// A program may be told which STag has ended; if so it is the right one.
void expect_invalidated(Context& context, Link& link, std::uint64_t id, std::uint32_t stag) {
  const Completion completion = context.expect_completion(link.agent_end(), id);
  if (completion.invalidated) {
    context.expect_equal(*completion.invalidated, stag, "the STag that was invalidated");
  }
}

struct KindRow {
  std::string_view id, title;
  Opcode opcode;
  std::size_t size;
};

void ends_a_window(Context& context, const KindRow& row) {
  WindowLink w = link_with_window(context);
  w.link.stream.write(w.stag, w.memory.address, pattern(kSize));
  w.link.stream.send_message(pattern(row.size), row.opcode, w.stag);
  expect_invalidated(context, w.link, 1, w.stag);
  context.expect_memory(w.memory, 0, pattern(kSize));
  w.link.stream.write(w.stag, w.memory.address, pattern(8, 2));
  expect_terminated(w.link.stream, {ddp_error::kInvalidStag});
  context.expect_memory(w.memory, 0, pattern(kSize));
}

const Cases kWindows = cases_of<KindRow>(
    Needs::kAgent, ends_a_window,
    {{"rdmap.invalidate.window", "A Send with Invalidate ends a window", kSendInvalidate, 8},
     {"rdmap.invalidate.window-solicited",
      "A Send with Solicited Event and Invalidate ends a window", kSendSolicitedInvalidate, 8},
     {"rdmap.invalidate.window-empty", "An empty Send with Invalidate ends a window",
      kSendInvalidate, 0}});

void ends_reading(Context& context) {
  WindowLink w = link_with_window(context);
  w.link.stream.send_message(pattern(8), kSendInvalidate, w.stag);
  expect_invalidated(context, w.link, 1, w.stag);
  w.link.stream.send_read_request(
      {.size = 8, .source_stag = w.stag, .source_to = w.memory.address});
  expect_terminated(w.link.stream, {rdmap_error::kInvalidStag});
}

// What the same octets of the stream bring behind the Send finds the STag closed already.
void ends_at_once(Context& context) {
  WindowLink w = link_with_window(context);
  Segment send = untagged_segment(kSendInvalidate, kSendQueue, 1, 0, pattern(8));
  send.invalidate_stag = w.stag;
  w.link.stream.send_together({send, tagged_segment(kWrite, w.stag, w.memory.address, pattern(8))});
  expect_terminated(w.link.stream, {ddp_error::kInvalidStag});
  context.expect_completion(w.link.agent_end(), 1);
  context.expect_untouched(w.memory);
}

void leaves_the_region_open(Context& context) {
  WindowLink w = link_with_window(context);
  w.link.stream.send_message(pattern(8), kSendInvalidate, w.stag);
  context.expect_completion(w.link.agent_end(), 1);
  w.link.stream.write(w.memory.stag, w.memory.address, pattern(kSize));
  sync(w.link.stream);
  context.expect_memory(w.memory, 0, pattern(kSize));
}

void refuses_a_second_time(Context& context) {
  WindowLink w = link_with_window(context);
  w.link.stream.send_message(pattern(8), kSendInvalidate, w.stag);
  context.expect_completion(w.link.agent_end(), 1);
  w.link.stream.send_message(pattern(8), kSendInvalidate, w.stag);
  expect_terminated(w.link.stream, kCannotInvalidate);
  expect_failed_completion(context, w.link.agent_end(), 2);
}

void refuses_an_unknown_stag(Context& context, const KindRow& row) {
  const Region received = context.agent().region(kSize, "local_write");
  Link link = link_with_receives(context, received, 1, kSize);
  link.stream.send_message(pattern(row.size), row.opcode, kWildStag);
  expect_terminated(link.stream, kCannotInvalidate);
  expect_failed_completion(context, link.agent_end(), 1);
}

const Cases kUnknown = cases_of<KindRow>(
    Needs::kAgent, refuses_an_unknown_stag,
    {{"rdmap.invalidate.unknown", "An STag that was never made cannot be invalidated",
      kSendInvalidate, 8},
     {"rdmap.invalidate.unknown-solicited",
      "Nor can it by a Send with Solicited Event and Invalidate", kSendSolicitedInvalidate, 8},
     {"rdmap.invalidate.unknown-empty", "Nor can it by an empty Send with Invalidate",
      kSendInvalidate, 0}});

void refuses_a_deregistered_region(Context& context) {
  const Region memory = context.agent().region(kSize, kOpen);
  const Region received = context.agent().region(kSize, "local_write");
  Link link = link_with_receives(context, received, 1, kSize);
  context.agent().deregister(memory);
  link.stream.send_message(pattern(8), kSendInvalidate, memory.stag);
  expect_terminated(link.stream, kCannotInvalidate);
}

// The other stream's window goes on serving it.
void refuses_the_window_of_another_stream(Context& context) {
  WindowLink w = link_with_window(context);
  const Region received = context.agent().region(kSize, "local_write");
  Link other = link_with_receives(context, received, 1, kSize);
  other.stream.send_message(pattern(8), kSendInvalidate, w.stag);
  expect_terminated(other.stream, kCannotInvalidate);
  expect_failed_completion(context, other.agent_end(), 1);
  w.link.stream.write(w.stag, w.memory.address, pattern(kSize));
  sync(w.link.stream);
  context.expect_memory(w.memory, 0, pattern(kSize));
}

// A region without a stream of its own serves all of them, so no peer may end it (RFC 5040 §8.1.1).
void refuses_a_shared_region(Context& context) {
  const Region memory = context.agent().region(kSize, kOpen);
  const Region received = context.agent().region(kSize, "local_write");
  Link sharing = context.link();
  sharing.stream.write(memory.stag, memory.address, pattern(8));
  sync(sharing.stream);
  Link link = link_with_receives(context, received, 1, kSize);
  link.stream.write(memory.stag, memory.address, pattern(8));
  link.stream.send_message(pattern(8), kSendInvalidate, memory.stag);
  expect_terminated(link.stream, kCannotInvalidateShared);
  sharing.stream.write(memory.stag, memory.address, pattern(kSize, 2));
  sync(sharing.stream);
  context.expect_memory(memory, 0, pattern(kSize, 2));
}

// A program may open a region for it.
void ends_a_region_that_opted_in(Context& context) {
  context.need("remote_invalidate");
  const Region memory =
      context.agent().region(kSize, std::string(kOpen).append(",remote_invalidate"));
  const Region received = context.agent().region(kSize, "local_write");
  Link link = link_with_receives(context, received, 1, kSize);
  link.stream.write(memory.stag, memory.address, pattern(kSize));
  link.stream.send_message(pattern(8), kSendInvalidate, memory.stag);
  expect_invalidated(context, link, 1, memory.stag);
  link.stream.write(memory.stag, memory.address, pattern(8, 2));
  expect_terminated(link.stream, {ddp_error::kInvalidStag});
  context.expect_memory(memory, 0, pattern(kSize));
}

const Cases kOthers{
    {"rdmap.invalidate.reading", "What has been invalidated cannot be read", Needs::kAgent,
     ends_reading},
    {"rdmap.invalidate.at-once", "What follows a Send with Invalidate finds the STag closed",
     Needs::kAgent, ends_at_once},
    {"rdmap.invalidate.region-stays", "Invalidating a window leaves its region open", Needs::kAgent,
     leaves_the_region_open},
    {"rdmap.invalidate.twice", "An STag cannot be invalidated twice", Needs::kAgent,
     refuses_a_second_time},
    {"rdmap.invalidate.deregistered", "A region that is gone cannot be invalidated", Needs::kAgent,
     refuses_a_deregistered_region},
    {"rdmap.invalidate.other-stream", "The window of another stream cannot be invalidated",
     Needs::kAgent, refuses_the_window_of_another_stream},
    {"rdmap.invalidate.shared-region", "A region that streams share cannot be invalidated",
     Needs::kAgent, refuses_a_shared_region},
    {"rdmap.invalidate.opted-in", "A region that its program opened for it is invalidated",
     Needs::kAgent, ends_a_region_that_opted_in},
};

}  // namespace

Cases cases() { return joined({kWindows, kUnknown, kOthers}); }

}  // namespace iwarp::conform::rdmap_invalidate
