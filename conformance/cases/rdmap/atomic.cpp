#include "cases/rdmap/atomic_word.hpp"

/// Atomic Operations on the target's memory (RFC 7306 §5).
namespace iwarp::conform::rdmap_atomic {
namespace {

constexpr std::uint64_t kAll = UINT64_MAX;

AtomicRequest fetch_add(std::uint64_t add, std::uint64_t mask = 0) {
  return {.operation = kFetchAdd,
          .id = 0x600DF00D,
          .data = add,
          .mask = mask,
          .compare = 0,
          .compare_mask = UINT64_MAX};
}

AtomicRequest cmp_swap(std::uint64_t compare, std::uint64_t compare_mask, std::uint64_t swap,
                       std::uint64_t swap_mask) {
  return {.operation = kCmpSwap,
          .id = 0xFFFFFFFF,
          .data = swap,
          .mask = swap_mask,
          .compare = compare,
          .compare_mask = compare_mask};
}

struct OperationRow {
  std::string_view id, title;
  std::uint64_t before;
  AtomicRequest request;
  std::uint64_t after;
};

void performs(Context& context, const OperationRow& row) {
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  set_word(context, link.stream, word, row.before);
  expect_word(context, word.region, word.offset, row.before);
  const std::uint64_t original = perform(context, link.stream, word, row.request);
  context.expect_equal(original, row.before, "Original Remote Data Value");
  expect_word(context, word.region, word.offset, row.after);
  const std::size_t behind = word.offset + 8;
  context.expect_memory(word.region, behind, Octets(word.region.size - behind, 0));
}

const Cases kOperations = cases_of<OperationRow>(
    Needs::kAgent, performs,
    {{"rdmap.atomic.add", "FetchAdd adds", 41, fetch_add(1), 42},
     {"rdmap.atomic.add-nothing", "FetchAdd of zero only fetches", 0x1122334455667788, fetch_add(0),
      0x1122334455667788},
     {"rdmap.atomic.add-carry", "FetchAdd carries through all 64 bits", 0x00FFFFFFFFFFFFFF,
      fetch_add(1), 0x0100000000000000},
     {"rdmap.atomic.add-wrap", "FetchAdd discards the carry of the highest bit", kAll, fetch_add(3),
      2},
     {"rdmap.atomic.add-two-fields", "An Add Mask makes two fields of 32 bits", 0xFFFFFFFFFFFFFFFF,
      fetch_add(0x0000000200000001, 0x8000000080000000), 0x0000000100000000},
     {"rdmap.atomic.add-octets", "An Add Mask makes fields of an octet each", 0xFF01FF01FF01FF01,
      fetch_add(0x0101010101010101, 0x8080808080808080), 0x0002000200020002},
     {"rdmap.atomic.add-bits", "An Add Mask makes fields of one bit", 0xF0F0F0F00F0F0F0F,
      fetch_add(0xFF00FF00FF00FF00, kAll), 0x0FF00FF0F00FF00F},
     {"rdmap.atomic.add-low-field", "The highest bit of a field alone bounds it",
      0x00000000000001FF, fetch_add(1, 0x80), 0x0000000000000100},
     {"rdmap.atomic.swap-match", "CmpSwap swaps if the values are equal", 5,
      cmp_swap(5, kAll, 9, kAll), 9},
     {"rdmap.atomic.swap-mismatch", "CmpSwap leaves what is not equal", 6,
      cmp_swap(5, kAll, 9, kAll), 6},
     {"rdmap.atomic.swap-compare-masked", "CmpSwap compares only what its Compare Mask covers",
      0xAAAA000000001234, cmp_swap(0x5555000000001234, 0xFFFF, 9, kAll), 9},
     {"rdmap.atomic.swap-compare-mismatch", "CmpSwap compares all that its Compare Mask covers",
      0x8000000000001234, cmp_swap(0x1234, 0x800000000000FFFF, 9, kAll), 0x8000000000001234},
     {"rdmap.atomic.swap-masked", "CmpSwap swaps only what its Swap Mask covers",
      0x1111111111111111,
      cmp_swap(0x1111111111111111, kAll, 0x2222222222222222, 0x00000000FFFF0000),
      0x1111111122221111},
     {"rdmap.atomic.swap-unconditional", "CmpSwap with a Compare Mask of zero always swaps", 7,
      cmp_swap(5, 0, 9, kAll), 9},
     {"rdmap.atomic.swap-nothing", "CmpSwap with a Swap Mask of zero changes nothing", 5,
      cmp_swap(5, kAll, 9, 0), 5}});

// What the target's program stored is returned, in whichever order its processor keeps it.
void returns_what_was_stored(Context& context) {
  const AtomicWord word = atomic_word(context);
  const Octets stored = pattern(8);
  context.agent().store(word.region, word.offset, stored);
  Link link = context.link();
  const std::uint64_t original = perform(context, link.stream, word, fetch_add(0));
  expect_word(context, word.region, word.offset, original);
  context.expect_memory(word.region, word.offset, stored);
}

// Any TO will do that is aligned in memory.
void performs_on_the_last_word(Context& context) {
  AtomicWord word = atomic_word(context);
  const std::size_t words = (word.region.size - word.offset) / 8;
  word.offset += 8 * (words - 1);
  Link link = context.link();
  set_word(context, link.stream, word, 77);
  expect_word(context, word.region, word.offset, 77);
  context.expect_memory(word.region, 0, Octets(word.offset, 0));
}

void ignores_reserved_bits(Context& context) {
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  AtomicRequest request = fetch_add(7);
  request.operation |= 0xFFFFFFF0;
  request.compare = 0x1111;
  request.compare_mask = 0x2222;
  perform(context, link.stream, word, request);
  expect_word(context, word.region, word.offset, 7);
}

void performs_in_order(Context& context) {
  constexpr std::uint32_t kCount = 16;
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  std::vector<Segment> segments;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    AtomicRequest request = fetch_add(1);
    request.id = 0x1000 + i;
    request.stag = word.region.stag;
    request.to = word.to();
    segments.push_back(untagged_segment(kAtomicRequest, kReadQueue, i + 1, 0, encode(request)));
  }
  link.stream.send_together(segments);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const ReceivedOriginal received = expect_atomic_response(link.stream);
    context.expect_equal(received.msn, i + 1, "MSN on queue 3");
    context.expect_equal(received.response.id, 0x1000 + i, "Original Request Identifier");
    context.expect_equal(received.response.original, i, "Original Remote Data Value");
  }
  expect_word(context, word.region, word.offset, kCount);
}

// Responses leave in the order of the requests, of both kinds (RFC 7306 §7).
void answers_in_order_with_reads(Context& context) {
  const AtomicWord word = atomic_word(context, "local_write,remote_atomic,remote_read");
  Link link = context.link();
  AtomicRequest add = fetch_add(1);
  add.stag = word.region.stag;
  add.to = word.to();
  const ReadRequest read{
      .sink_stag = 1, .size = 8, .source_stag = word.region.stag, .source_to = word.to()};
  const auto segment = [](Opcode opcode, std::uint32_t msn, const Octets& payload) {
    return untagged_segment(opcode, kReadQueue, msn, 0, payload);
  };
  link.stream.send_together(
      {segment(kReadRequest, 1, encode(read)), segment(kAtomicRequest, 2, encode(add)),
       segment(kReadRequest, 3, encode(read)), segment(kAtomicRequest, 4, encode(add))});
  expect_tagged_message(link.stream, kReadResponse);
  context.expect_equal(expect_atomic_response(link.stream).response.original, 0,
                       "Original Remote Data Value");
  const TaggedMessage response = expect_tagged_message(link.stream, kReadResponse);
  context.expect(response.payload != Octets(8, 0), "the Read finds the first FetchAdd done",
                 "the word is still 0");
  context.expect_equal(expect_atomic_response(link.stream).response.original, 1,
                       "Original Remote Data Value");
}

void keeps_receives_for_sends(Context& context) {
  const AtomicWord word = atomic_word(context);
  const Region received = context.agent().region(16, "local_write");
  Link link = link_with_receives(context, received, 1, 16);
  perform(context, link.stream, word, fetch_add(1));
  context.expect_no_completion(link.agent_end());
  context.expect_untouched(received);
}

// In front of an atomic: a Send. Its receive has completed when the response is there.
void answers_behind_a_send(Context& context) {
  const AtomicWord word = atomic_word(context);
  const Region received = context.agent().region(16, "local_write");
  Link link = link_with_receives(context, received, 1, 16);
  link.stream.send_message(pattern(16));
  perform(context, link.stream, word, fetch_add(1));
  context.expect_completion(link.agent_end(), 1);
  context.expect_memory(received, 0, pattern(16));
}

// The request is complete with its second segment, and performed then.
void performs_a_request_in_segments(Context& context) {
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  AtomicRequest request = fetch_add(5);
  request.stag = word.region.stag;
  request.to = word.to();
  const auto segments =
      cut_message(untagged_segment(kAtomicRequest, kReadQueue, 1, 0, encode(request)), 40);
  link.stream.send(segments[0]);
  link.stream.expect_quiet("the Atomic Request is not complete");
  context.expect_untouched(word.region);
  link.stream.send(segments[1]);
  expect_atomic_response(link.stream);
  expect_word(context, word.region, word.offset, 5);
}

// Two streams add to one word at the same time: no addition is lost (RFC 7306 §5.3).
void loses_no_addition_of_two_streams(Context& context) {
  constexpr std::uint32_t kRounds = 20, kInGo = 10;
  const AtomicWord word = atomic_word(context);
  Link links[] = {context.link(), context.link()};
  AtomicRequest add = fetch_add(1);
  add.stag = word.region.stag;
  add.to = word.to();
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (Link& link : links) {
      std::vector<Segment> segments;
      for (std::uint32_t i = 0; i < kInGo; ++i) {
        segments.push_back(untagged_segment(kAtomicRequest, kReadQueue,
                                            link.stream.next_msn(kReadQueue), 0, encode(add)));
      }
      link.stream.send_together(segments);
    }
    for (Link& link : links) {
      for (std::uint32_t i = 0; i < kInGo; ++i) expect_atomic_response(link.stream);
    }
  }
  expect_word(context, word.region, word.offset, 2 * kRounds * kInGo);
}

const Cases kPerformed{
    {"rdmap.atomic.last-word", "An atomic may name any aligned word", Needs::kAgent,
     performs_on_the_last_word},
    {"rdmap.atomic.original", "The original value is what the memory held", Needs::kAgent,
     returns_what_was_stored},
    {"rdmap.atomic.reserved", "Reserved bits and unused fields of a FetchAdd are ignored",
     Needs::kAgent, ignores_reserved_bits},
    {"rdmap.atomic.order", "Atomics are performed and answered in the order sent", Needs::kAgent,
     performs_in_order},
    {"rdmap.atomic.order-with-reads", "Atomics and Reads are answered in the order sent",
     Needs::kAgent, answers_in_order_with_reads},
    {"rdmap.atomic.silent", "An atomic takes no receive and completes nothing", Needs::kAgent,
     keeps_receives_for_sends},
    {"rdmap.atomic.behind-send", "An atomic is answered behind the Sends in front of it",
     Needs::kAgent, answers_behind_a_send},
    {"rdmap.atomic.request-in-segments", "An Atomic Request is performed once it is complete",
     Needs::kAgent, performs_a_request_in_segments},
    {"rdmap.atomic.two-streams", "No addition of two streams to one word is lost", Needs::kAgent,
     loses_no_addition_of_two_streams},
};

}  // namespace

Cases cases() { return joined({kOperations, kPerformed}); }

}  // namespace iwarp::conform::rdmap_atomic
