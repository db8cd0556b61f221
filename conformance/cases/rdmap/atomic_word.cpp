#include "cases/rdmap/atomic_word.hpp"

#include <algorithm>

namespace iwarp::conform {

AtomicWord atomic_word(Context& context, const std::string& access) {
  context.need("atomic");
  const Region region = context.agent().region(AtomicWord::kRegionSize, access);
  return {region, (8 - region.address % 8) % 8};
}

ReceivedOriginal expect_atomic_response(Stream& stream) {
  const UntaggedMessage message =
      expect_untagged_message(stream, kAtomicResponse, kAtomicResponseQueue);
  if (message.payload.size() != AtomicResponse::kSize) {
    throw Failure("an Atomic Response Header of 12 octets", std::to_string(message.payload.size()));
  }
  return {message.msn, *parse_atomic_response(message.payload)};
}

std::uint64_t perform(Context& context, Stream& stream, const AtomicWord& word,
                      AtomicRequest request) {
  request.stag = word.region.stag;
  request.to = word.to();
  stream.send_atomic_request(request);
  const ReceivedOriginal received = expect_atomic_response(stream);
  context.expect_equal(received.response.id, request.id, "Original Request Identifier");
  return received.response.original;
}

void set_word(Context& context, Stream& stream, const AtomicWord& word, std::uint64_t value) {
  perform(context, stream, word, {.operation = kCmpSwap, .data = value, .mask = UINT64_MAX});
}

void expect_word(Context& context, const Region& region, std::size_t offset, std::uint64_t value) {
  Octets expected;
  put64(expected, value);
  const Octets got = context.agent().fetch(region, offset, expected.size());
  if (got != expected) std::reverse(expected.begin(), expected.end());
  context.expect_equal(got, expected, "the memory holds " + hex_number(value, 16));
}

}  // namespace iwarp::conform
