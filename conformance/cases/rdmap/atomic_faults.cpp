#include "cases/rdmap/atomic_word.hpp"

/// Atomic Requests that the target must refuse (RFC 7306 §5.2.1, §8.2).
namespace iwarp::conform::rdmap_atomic_faults {
namespace {

// Any operation that would change the memory.
AtomicRequest operation_of(std::uint8_t code) {
  return {.operation = code,
          .id = 1,
          .data = 0x0102030405060708,
          .mask = code == kFetchAdd ? 0 : UINT64_MAX,
          .compare = 0,
          .compare_mask = code == kFetchAdd ? UINT64_MAX : 0};
}

struct FaultRow {
  std::string_view id, title;
  std::uint8_t operation;
  /// Makes the request, which would be right, wrong.
  std::function<void(AtomicRequest&)> spoil;
  Causes causes;
  std::string_view access = "local_write,remote_atomic";
};

void refuses(Context& context, const FaultRow& row) {
  const AtomicWord word = atomic_word(context, std::string(row.access));
  Link link = context.link();
  AtomicRequest request = operation_of(row.operation);
  request.stag = word.region.stag;
  request.to = word.to();
  row.spoil(request);
  link.stream.send_atomic_request(request);
  expect_terminated(link.stream, row.causes);
  context.expect_untouched(word.region);
}

const Cases kRefused =
    cases_of<FaultRow>(Needs::kAgent, refuses,
                       {{"rdmap.atomic.add-misaligned-1",
                         "A FetchAdd one octet off its alignment is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.to += 1; },
                         {rdmap_error::kStreamCatastrophic}},
                        {"rdmap.atomic.add-misaligned-4",
                         "A FetchAdd aligned to 32 bits only is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.to += 4; },
                         {rdmap_error::kStreamCatastrophic}},
                        {"rdmap.atomic.swap-misaligned-4",
                         "A CmpSwap aligned to 32 bits only is refused",
                         kCmpSwap,
                         [](AtomicRequest& request) { request.to += 4; },
                         {rdmap_error::kStreamCatastrophic}},
                        {"rdmap.atomic.swap-misaligned-7",
                         "A CmpSwap seven octets off its alignment is refused",
                         kCmpSwap,
                         [](AtomicRequest& request) { request.to += 7; },
                         {rdmap_error::kStreamCatastrophic}},
                        {"rdmap.atomic.operation-1",
                         "Operation code 1 is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.operation = 1; },
                         {}},
                        {"rdmap.atomic.operation-3",
                         "Operation code 3 is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.operation = 3; },
                         {}},
                        {"rdmap.atomic.operation-15",
                         "Operation code 15 is refused",
                         kCmpSwap,
                         [](AtomicRequest& request) { request.operation = 15; },
                         {}},
                        {"rdmap.atomic.stag-other-key",
                         "An atomic on an STag with another key is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.stag ^= 1; },
                         {rdmap_error::kInvalidStag}},
                        {"rdmap.atomic.stag-unknown",
                         "An atomic on an STag that was never made is refused",
                         kCmpSwap,
                         [](AtomicRequest& request) { request.stag = kWildStag; },
                         {rdmap_error::kInvalidStag}},
                        {"rdmap.atomic.below-base",
                         "An atomic below the region is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.to -= 8; },
                         {rdmap_error::kBounds, rdmap_error::kToWrap}},
                        {"rdmap.atomic.beyond-end",
                         "An atomic behind the region is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.to += AtomicWord::kRegionSize; },
                         {rdmap_error::kBounds}},
                        {"rdmap.atomic.to-highest",
                         "An atomic at the highest TO is refused",
                         kFetchAdd,
                         [](AtomicRequest& request) { request.to = 0xFFFFFFFFFFFFFFF8; },
                         {rdmap_error::kBounds, rdmap_error::kToWrap}},
                        {"rdmap.atomic.no-right",
                         "An atomic on a region open for Reads and Writes is refused",
                         kFetchAdd,
                         [](AtomicRequest&) {},
                         {rdmap_error::kAccess},
                         "local_write,remote_write,remote_read"}});

struct LengthRow {
  std::string_view id, title;
  std::size_t size;
};

// RFC 7306 has no code for it; a buffer for such a request has no room for more.
void refuses_another_length(Context& context, const LengthRow& row) {
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  AtomicRequest request = operation_of(kFetchAdd);
  request.stag = word.region.stag;
  request.to = word.to();
  Octets header = encode(request);
  header.resize(row.size);
  link.stream.send(untagged_segment(kAtomicRequest, kReadQueue, 1, 0, header));
  expect_terminated(link.stream, {});
  context.expect_untouched(word.region);
}

const Cases kOtherLengths = cases_of<LengthRow>(
    Needs::kAgent, refuses_another_length,
    {{"rdmap.atomic.request-short", "An Atomic Request of 51 octets ends the stream", 51},
     {"rdmap.atomic.request-empty", "An Atomic Request without a header ends the stream", 0},
     {"rdmap.atomic.request-long", "An Atomic Request of 53 octets ends the stream", 53}});

void refuses_a_deregistered_region(Context& context) {
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  perform(context, link.stream, word, operation_of(kFetchAdd));
  context.agent().deregister(word.region);
  AtomicRequest request = operation_of(kFetchAdd);
  request.stag = word.region.stag;
  request.to = word.to();
  link.stream.send_atomic_request(request);
  expect_terminated(link.stream, {rdmap_error::kInvalidStag});
  context.expect_target_alive();
}

void refuses_a_version(Context& context) {
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  AtomicRequest request = operation_of(kFetchAdd);
  request.stag = word.region.stag;
  request.to = word.to();
  Segment segment = untagged_segment(kAtomicRequest, kReadQueue, 1, 0, encode(request));
  segment.rdmap_control = kAtomicRequest;  // version 0
  link.stream.send(segment);
  expect_terminated(link.stream, {rdmap_error::kVersion});
  context.expect_untouched(word.region);
}

void performs_nothing_behind_an_error(Context& context) {
  const AtomicWord word = atomic_word(context);
  Link link = context.link();
  AtomicRequest good = operation_of(kFetchAdd);
  good.stag = word.region.stag;
  good.to = word.to();
  AtomicRequest bad = good;
  bad.to += 4;
  link.stream.send_together({untagged_segment(kAtomicRequest, kReadQueue, 1, 0, encode(bad)),
                             untagged_segment(kAtomicRequest, kReadQueue, 2, 0, encode(good))});
  expect_terminated(link.stream, {rdmap_error::kStreamCatastrophic});
  context.expect_untouched(word.region);
}

const Cases kRefusedOtherwise{
    {"rdmap.atomic.version", "An Atomic Request of RDMAP version 0 is refused", Needs::kAgent,
     refuses_a_version},
    {"rdmap.atomic.stag-deregistered", "An atomic on a region that is gone is refused",
     Needs::kAgent, refuses_a_deregistered_region},
    {"rdmap.atomic.after-error", "Atomics behind an error are not performed", Needs::kAgent,
     performs_nothing_behind_an_error},
};

}  // namespace

Cases cases() { return joined({kRefused, kOtherLengths, kRefusedOtherwise}); }

}  // namespace iwarp::conform::rdmap_atomic_faults
