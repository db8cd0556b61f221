#include "cases/rdmap/atomic_word.hpp"

/// Atomic Operations by the target: its requests and what it makes of the responses (RFC 7306 §5).
namespace iwarp::conform::rdmap_atomic_out {
namespace {

constexpr std::uint32_t kStag = 0xA70311C5;
constexpr std::uint64_t kTo = 0x1122334455667788;
constexpr std::uint64_t kOriginal = 0x0102030405060708;

std::string word_of(const Region& region, std::size_t index) {
  return part_of(region, 8 * index, 8) + " stag=" + hex_number(kStag, 8) +
         " address=" + hex_number(kTo, 16);
}

void post_add(Link& link, std::uint64_t id, const Region& region, std::size_t index,
              std::uint64_t add) {
  link.agent_end().post(id, "fetch_add", word_of(region, index) + " add=" + hex_number(add, 16));
}

void send_response(Stream& stream, std::uint32_t msn, std::uint32_t id, std::uint64_t original) {
  stream.send(untagged_segment(kAtomicResponse, kAtomicResponseQueue, msn, 0,
                               encode(AtomicResponse{.id = id, .original = original})));
}

/// A connection on which the target has asked for a FetchAdd.
struct AskedLink {
  Region result;
  Link link;
  AtomicRequest request;
};

AskedLink asked_link(Context& context) {
  context.need("atomic");
  const Region result = context.agent().region(16, "local_write");
  Link link = talking_link(context);
  post_add(link, 1, result, 0, 3);
  const ReceivedAtomic atomic = expect_atomic_request(link.stream);
  context.expect_equal(atomic.msn, 1, "MSN on queue 1");
  return {result, std::move(link), atomic.request};
}

void asks_for_a_fetch_add(Context& context) {
  AskedLink asked = asked_link(context);
  context.expect_equal(asked.request.operation, kFetchAdd,
                       "operation code, and reserved bits of 0");
  context.expect_equal(asked.request.stag, kStag, "Remote STag");
  context.expect_equal(asked.request.to, kTo, "Remote Tagged Offset");
  context.expect_equal(asked.request.data, 3, "Add Data");
  context.expect(asked.request.mask == 0 || asked.request.mask == 0x8000000000000000,
                 "an Add Mask for one field", hex_number(asked.request.mask, 16));
  send_response(asked.link.stream, 1, asked.request.id, kOriginal);
  context.expect_completion(asked.link.agent_end(), 1);
  expect_word(context, asked.result, 0, kOriginal);
  context.expect_memory(asked.result, 8, Octets(8, 0));
}

void asks_for_a_cmp_swap(Context& context) {
  context.need("atomic");
  const Region result = context.agent().region(16, "local_write");
  Link link = talking_link(context);
  link.agent_end().post(1, "cmp_swap",
                        word_of(result, 0) + " compare=0x1111 swap=0x2222222222222222");
  const ReceivedAtomic atomic = expect_atomic_request(link.stream);
  context.expect_equal(atomic.request.operation, kCmpSwap,
                       "operation code, and reserved bits of 0");
  context.expect_equal(atomic.request.compare, 0x1111, "Compare Data");
  context.expect_equal(atomic.request.compare_mask, UINT64_MAX, "Compare Mask");
  context.expect_equal(atomic.request.data, 0x2222222222222222, "Swap Data");
  context.expect_equal(atomic.request.mask, UINT64_MAX, "Swap Mask");
  send_response(link.stream, 1, atomic.request.id, kOriginal);
  context.expect_completion(link.agent_end(), 1);
  expect_word(context, result, 0, kOriginal);
}

void completes_with_the_response(Context& context) {
  AskedLink asked = asked_link(context);
  context.expect_no_completion(asked.link.agent_end());
  context.expect_untouched(asked.result);
  send_response(asked.link.stream, 1, asked.request.id, kOriginal);
  context.expect_completion(asked.link.agent_end(), 1);
}

void asks_in_order(Context& context) {
  context.need("atomic");
  constexpr std::uint32_t kCount = 4;
  const Region result = context.agent().region(8 * kCount, "local_write");
  Link link = talking_link(context);
  for (std::uint32_t i = 0; i < kCount; ++i) post_add(link, i + 1, result, i, 100 + i);
  std::vector<AtomicRequest> requests;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const ReceivedAtomic atomic = expect_atomic_request(link.stream);
    context.expect_equal(atomic.msn, i + 1, "MSN on queue 1");
    context.expect_equal(atomic.request.data, 100 + i, "Add Data");
    requests.push_back(atomic.request);
  }
  for (std::uint32_t i = 0; i < kCount; ++i) {
    send_response(link.stream, i + 1, requests[i].id, kOriginal + i);
    context.expect_completion(link.agent_end(), i + 1);
    expect_word(context, result, 8 * i, kOriginal + i);
  }
}

// Reads and atomics count on one queue, and complete in the order in which they were posted.
void shares_the_queue_with_reads(Context& context) {
  context.need("atomic");
  context.need("read");
  const Region region = context.agent().region(32, "local_write,remote_write");
  Link link = talking_link(context);
  post_add(link, 1, region, 0, 1);
  link.agent_end().read(2, region, 8, kStag, kTo);
  post_add(link, 3, region, 2, 1);
  const ReceivedAtomic first = expect_atomic_request(link.stream);
  const ReceivedRead read = expect_read_request(link.stream);
  const ReceivedAtomic second = expect_atomic_request(link.stream);
  context.expect_equal(read.msn, 2, "MSN of the Read Request");
  context.expect_equal(second.msn, 3, "MSN of the second Atomic Request");
  send_response(link.stream, 1, first.request.id, 1);
  link.stream.send(
      tagged_segment(kReadResponse, read.request.sink_stag, read.request.sink_to, pattern(8)));
  send_response(link.stream, 2, second.request.id, 2);
  for (std::uint64_t id = 1; id <= 3; ++id) context.expect_completion(link.agent_end(), id);
}

// The MSN tells which request it answers; a target may also look at the identifier.
void ends_with_another_identifier(Context& context) {
  AskedLink asked = asked_link(context);
  send_response(asked.link.stream, 1, asked.request.id ^ 0x5A5A5A5A, kOriginal);
  const auto completion = asked.link.agent_end().completion(context.limits().timeout);
  context.expect(completion.has_value(), "the atomic's completion, in whichever way", "none");
  if (completion->status == "success") {
    expect_word(context, asked.result, 0, kOriginal);
  } else {
    expect_terminated(asked.link.stream, {});
  }
}

const Cases kAsked{
    {"rdmap.atomic.sent-add", "The target asks for a FetchAdd", Needs::kAgent,
     asks_for_a_fetch_add},
    {"rdmap.atomic.sent-swap", "The target asks for a CmpSwap", Needs::kAgent, asks_for_a_cmp_swap},
    {"rdmap.atomic.sent-completes", "The target's atomic completes with its response",
     Needs::kAgent, completes_with_the_response},
    {"rdmap.atomic.sent-order", "The target's atomics leave and complete in posting order",
     Needs::kAgent, asks_in_order},
    {"rdmap.atomic.sent-with-reads", "The target's atomics and Reads count on one queue",
     Needs::kAgent, shares_the_queue_with_reads},
    {"rdmap.atomic.response-identifier",
     "An Atomic Response with another identifier is refused or taken by its MSN", Needs::kAgent,
     ends_with_another_identifier},
};

struct WrongRow {
  std::string_view id, title;
  std::uint32_t msn;
  std::size_t size;
  Causes causes;
};

void refuses_a_response(Context& context, const WrongRow& row) {
  AskedLink asked = asked_link(context);
  Octets header = encode(AtomicResponse{.id = asked.request.id, .original = kOriginal});
  header.resize(row.size);
  asked.link.stream.send(
      untagged_segment(kAtomicResponse, kAtomicResponseQueue, row.msn, 0, header));
  expect_terminated(asked.link.stream, row.causes);
  context.expect_untouched(asked.result);
  expect_failed_completion(context, asked.link.agent_end(), 1);
}

const Cases kWrongResponses = cases_of<WrongRow>(
    Needs::kAgent, refuses_a_response,
    {{"rdmap.atomic.response-short", "An Atomic Response of 11 octets is refused", 1, 11, {}},
     {"rdmap.atomic.response-long", "An Atomic Response of 13 octets is refused", 1, 13, {}},
     {"rdmap.atomic.response-msn-0",
      "An Atomic Response with MSN 0 is refused",
      0,
      12,
      {ddp_error::kMsnRange, ddp_error::kNoBuffer}},
     {"rdmap.atomic.response-msn-2",
      "An Atomic Response to no request is refused",
      2,
      12,
      {ddp_error::kMsnRange, ddp_error::kNoBuffer}}});

void refuses_a_second_response(Context& context) {
  AskedLink asked = asked_link(context);
  send_response(asked.link.stream, 1, asked.request.id, kOriginal);
  context.expect_completion(asked.link.agent_end(), 1);
  send_response(asked.link.stream, 2, asked.request.id, ~kOriginal);
  expect_terminated(asked.link.stream,
                    {ddp_error::kNoBuffer, ddp_error::kMsnRange, rdmap_error::kOpcode});
  expect_word(context, asked.result, 0, kOriginal);
}

void fails_when_the_responder_refuses(Context& context) {
  AskedLink asked = asked_link(context);
  const Terminate terminate{.cause = rdmap_error::kStreamCatastrophic};
  asked.link.stream.send(untagged_segment(kTerminate, kTerminateQueue, 1, 0, encode(terminate)));
  expect_failed_completion(context, asked.link.agent_end(), 1);
  context.expect_untouched(asked.result);
}

const Cases kRefusedOtherwise{
    {"rdmap.atomic.response-again", "A second Atomic Response to one request is refused",
     Needs::kAgent, refuses_a_second_response},
    {"rdmap.atomic.sent-refused", "An atomic that the responder refuses completes in error",
     Needs::kAgent, fails_when_the_responder_refuses},
};

}  // namespace

Cases cases() { return joined({kAsked, kWrongResponses, kRefusedOtherwise}); }

}  // namespace iwarp::conform::rdmap_atomic_out
