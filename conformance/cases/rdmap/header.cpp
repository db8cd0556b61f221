#include "cases/rdma.hpp"

/// The RDMAP Control Field, and which opcode goes where (RFC 5040 §4.1, §7.2; RFC 7306 §4.1).
namespace iwarp::conform::rdmap_header {
namespace {

struct VersionRow {
  std::string_view id, title;
  Segment segment;
  std::uint8_t version;
};

void refuses_a_version(Context& context, const VersionRow& row) {
  Link link = context.link();
  Segment segment = row.segment;
  segment.rdmap_control =
      static_cast<std::uint8_t>((segment.rdmap_control & ~kRdmapVersionMask) | row.version << 6);
  link.stream.send(segment);
  expect_terminated(link.stream, {rdmap_error::kVersion});
}

const Cases kVersions = cases_of<VersionRow>(
    Needs::kListener, refuses_a_version,
    {{"rdmap.header.version-0-tagged", "A tagged segment of RDMAP version 0 ends the stream",
      empty_write(), 0},
     {"rdmap.header.version-2-tagged", "A tagged segment of RDMAP version 2 ends the stream",
      empty_write(), 2},
     {"rdmap.header.version-3-tagged", "A tagged segment of RDMAP version 3 ends the stream",
      empty_write(), 3},
     {"rdmap.header.version-0-untagged", "An untagged segment of RDMAP version 0 ends the stream",
      empty_read_request(1), 0},
     {"rdmap.header.version-2-untagged", "An untagged segment of RDMAP version 2 ends the stream",
      empty_read_request(1), 2},
     {"rdmap.header.version-3-untagged", "An untagged segment of RDMAP version 3 ends the stream",
      empty_read_request(1), 3}});

struct OpcodeRow {
  std::string_view id, title;
  std::uint8_t opcode;
};

Segment with_opcode(Segment segment, std::uint8_t opcode) {
  segment.rdmap_control = kRdmapVersion | opcode;
  return segment;
}

// Empty, so that nothing but the opcode is wrong.
void refuses_in_a_tagged_segment(Context& context, const OpcodeRow& row) {
  Link link = context.link();
  link.stream.send(with_opcode(empty_write(), row.opcode));
  expect_terminated(link.stream, {rdmap_error::kOpcode});
}

const Cases kTaggedOpcodes = cases_of<OpcodeRow>(
    Needs::kListener, refuses_in_a_tagged_segment,
    {{"rdmap.header.tagged-read-request", "A Read Request cannot be tagged", kReadRequest},
     {"rdmap.header.tagged-send", "A Send cannot be tagged", kSend},
     {"rdmap.header.tagged-send-invalidate", "A Send with Invalidate cannot be tagged",
      kSendInvalidate},
     {"rdmap.header.tagged-send-solicited", "A Send with Solicited Event cannot be tagged",
      kSendSolicited},
     {"rdmap.header.tagged-send-solicited-invalidate",
      "A Send with Solicited Event and Invalidate cannot be tagged", kSendSolicitedInvalidate},
     {"rdmap.header.tagged-terminate", "A Terminate cannot be tagged", kTerminate},
     {"rdmap.header.tagged-immediate", "Immediate Data cannot be tagged", kImmediate},
     {"rdmap.header.tagged-immediate-solicited",
      "Immediate Data with Solicited Event cannot be tagged", kImmediateSolicited},
     {"rdmap.header.tagged-atomic-request", "An Atomic Request cannot be tagged", kAtomicRequest},
     {"rdmap.header.tagged-atomic-response", "An Atomic Response cannot be tagged",
      kAtomicResponse},
     {"rdmap.header.tagged-opcode-12", "Opcode 12 does not exist, tagged", 12},
     {"rdmap.header.tagged-opcode-13", "Opcode 13 does not exist, tagged", 13},
     {"rdmap.header.tagged-opcode-14", "Opcode 14 does not exist, tagged", 14},
     {"rdmap.header.tagged-opcode-15", "Opcode 15 does not exist, tagged", 15}});

// On the queue of Read Requests, which has buffers without a program's doing.
void refuses_an_unknown_opcode(Context& context, const OpcodeRow& row) {
  Link link = context.link();
  link.stream.send(with_opcode(empty_read_request(1), row.opcode));
  expect_terminated(link.stream, {rdmap_error::kOpcode});
}

const Cases kUnknownOpcodes =
    cases_of<OpcodeRow>(Needs::kListener, refuses_an_unknown_opcode,
                        {{"rdmap.header.opcode-12", "Opcode 12 does not exist", 12},
                         {"rdmap.header.opcode-13", "Opcode 13 does not exist", 13},
                         {"rdmap.header.opcode-14", "Opcode 14 does not exist", 14},
                         {"rdmap.header.opcode-15", "Opcode 15 does not exist", 15}});

struct QueueRow {
  std::string_view id, title;
  Opcode opcode;
  std::uint32_t qn;
  std::size_t size;
};

// The queue is a valid one and has a buffer, for another kind of message. A target may take the
// opcode for wrong, or the queue.
void refuses_on_another_queue(Context& context, const QueueRow& row) {
  Link link = context.link();
  link.stream.send(untagged_segment(row.opcode, row.qn, 1, 0, Octets(row.size, 0)));
  expect_terminated(link.stream, {rdmap_error::kOpcode, ddp_error::kInvalidQn});
}

const Cases kWrongQueues = cases_of<QueueRow>(
    Needs::kListener, refuses_on_another_queue,
    {{"rdmap.header.write-on-read-queue", "A Write cannot be untagged", kWrite, kReadQueue, 28},
     {"rdmap.header.read-response-on-read-queue", "A Read Response cannot be untagged",
      kReadResponse, kReadQueue, 28},
     {"rdmap.header.send-on-read-queue", "A Send cannot go to the queue of Read Requests", kSend,
      kReadQueue, 28},
     {"rdmap.header.send-on-terminate-queue", "A Send cannot go to the queue of Terminates", kSend,
      kTerminateQueue, 4},
     {"rdmap.header.read-request-on-terminate-queue",
      "A Read Request cannot go to the queue of Terminates", kReadRequest, kTerminateQueue, 28},
     {"rdmap.header.terminate-on-read-queue", "A Terminate cannot go to the queue of Read Requests",
      kTerminate, kReadQueue, 4},
     {"rdmap.header.immediate-on-read-queue",
      "Immediate Data cannot go to the queue of Read Requests", kImmediate, kReadQueue, 8},
     {"rdmap.header.atomic-response-on-read-queue",
      "An Atomic Response cannot go to the queue of Read Requests", kAtomicResponse, kReadQueue,
      12},
     {"rdmap.header.atomic-request-on-terminate-queue",
      "An Atomic Request cannot go to the queue of Terminates", kAtomicRequest, kTerminateQueue,
      52}});

void refuses_on_the_send_queue(Context& context, const QueueRow& row) {
  const Region region = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, region, 1, 64);
  link.stream.send(untagged_segment(row.opcode, row.qn, 1, 0, Octets(row.size, 0)));
  expect_terminated(link.stream, {rdmap_error::kOpcode, ddp_error::kInvalidQn});
  expect_failed_completion(context, link.agent_end(), 1);
}

const Cases kOnTheSendQueue = cases_of<QueueRow>(
    Needs::kAgent, refuses_on_the_send_queue,
    {{"rdmap.header.write-on-send-queue", "A Write cannot go to the queue of Sends", kWrite,
      kSendQueue, 28},
     {"rdmap.header.read-response-on-send-queue", "A Read Response cannot go to the queue of Sends",
      kReadResponse, kSendQueue, 28},
     {"rdmap.header.read-request-on-send-queue", "A Read Request cannot go to the queue of Sends",
      kReadRequest, kSendQueue, 28},
     {"rdmap.header.terminate-on-send-queue", "A Terminate cannot go to the queue of Sends",
      kTerminate, kSendQueue, 4},
     {"rdmap.header.atomic-request-on-send-queue",
      "An Atomic Request cannot go to the queue of Sends", kAtomicRequest, kSendQueue, 52},
     {"rdmap.header.atomic-response-on-send-queue",
      "An Atomic Response cannot go to the queue of Sends", kAtomicResponse, kSendQueue, 12},
     {"rdmap.header.opcode-12-on-send-queue", "Opcode 12 does not exist on the queue of Sends",
      static_cast<Opcode>(12), kSendQueue, 8},
     {"rdmap.header.opcode-15-on-send-queue", "Opcode 15 does not exist on the queue of Sends",
      static_cast<Opcode>(15), kSendQueue, 8}});

// A Data Sink without RFC 7306 does not know these opcodes.
void refuses_immediate_data(Context& context) {
  if (context.agent().has("immediate")) throw Skipped("the target has Immediate Data");
  const Region region = context.agent().region(64, "local_write");
  Link link = link_with_receives(context, region, 1, 64);
  link.stream.send_message(pattern(8), kImmediate);
  expect_terminated(link.stream, {rdmap_error::kOpcode});
}

void refuses_atomics(Context& context) {
  if (context.agent().has("atomic")) throw Skipped("the target has Atomic Operations");
  Link link = context.link();
  link.stream.send_atomic_request({.stag = kWildStag});
  expect_terminated(link.stream, {rdmap_error::kOpcode, ddp_error::kTooLong});
}

constexpr std::uint8_t kReservedBits[] = {0x10, 0x20, kRdmapReserved};

void ignores_reserved_bits_of_tagged(Context& context) {
  expect_bits_ignored_when_tagged(context, &Segment::rdmap_control, kReservedBits);
}

void ignores_reserved_bits_of_untagged(Context& context) {
  expect_bits_ignored_when_untagged(context, &Segment::rdmap_control, kReservedBits);
}

void ignores_the_invalidate_stag_of_a_read_request(Context& context) {
  Link link = context.link();
  Segment segment = empty_read_request(link.stream.next_msn(kReadQueue));
  segment.invalidate_stag = kWildStag;
  link.stream.send(segment);
  expect_tagged_message(link.stream, kReadResponse);
}

// Even if it names something that the peer may invalidate.
void ignores_the_invalidate_stag_of_a_send(Context& context) {
  context.need("window");
  const Region received = context.agent().region(64, "local_write");
  const Region target = context.agent().region(64, "local_write,remote_write");
  Link link = link_with_receives(context, received, 2, 32);
  sync(link.stream);
  const std::uint32_t stag = link.agent_end().window(target, 0, 64, "remote_write");
  link.stream.send_message(pattern(8), kSend, stag);
  const Completion plain = context.expect_completion(link.agent_end(), 1);
  context.expect(!plain.invalidated, "nothing invalidated", "an invalidated STag is told");
  link.stream.send_message(pattern(8), kSendSolicited, stag);
  context.expect_completion(link.agent_end(), 2);
  link.stream.write(stag, target.address, pattern(64));
  sync(link.stream);
  context.expect_memory(target, 0, pattern(64));
}

const Cases kOtherFields{
    {"rdmap.header.no-immediate", "Immediate Data is unknown to targets without RFC 7306",
     Needs::kAgent, refuses_immediate_data},
    {"rdmap.header.no-atomics", "Atomic Requests are unknown to targets without RFC 7306",
     Needs::kAgent, refuses_atomics},
    {"rdmap.header.reserved-tagged", "Reserved RDMAP bits of a tagged segment are ignored",
     Needs::kListener, ignores_reserved_bits_of_tagged},
    {"rdmap.header.reserved-untagged", "Reserved RDMAP bits of an untagged segment are ignored",
     Needs::kListener, ignores_reserved_bits_of_untagged},
    {"rdmap.header.invalidate-stag-of-read", "The Invalidate STag of a Read Request is ignored",
     Needs::kListener, ignores_the_invalidate_stag_of_a_read_request},
    {"rdmap.header.invalidate-stag-of-send", "The Invalidate STag of a plain Send is ignored",
     Needs::kAgent, ignores_the_invalidate_stag_of_a_send},
};

}  // namespace

Cases cases() {
  return joined(
      {kVersions, kTaggedOpcodes, kUnknownOpcodes, kWrongQueues, kOnTheSendQueue, kOtherFields});
}

}  // namespace iwarp::conform::rdmap_header
