#include <cstring>

#include "fuzz/input.hpp"
#include "iwarp/rdmap/terminate.hpp"

// Terminate messages, RFC 5040 §4.8: of a peer, and those that this end makes of a peer's segments.
// Input: one octet of choices, three for a cause, then the octets of the message or segment.
namespace iwarp::rdmap {
namespace {

using fuzz::Exact;
using fuzz::Input;
using fuzz::require;

std::vector<std::byte> encoded(const Terminate& message) {
  const Exact room{std::vector<std::byte>(Terminate::kMaxSize)};
  const std::size_t size = message.encode(room.bytes().data());
  require(size >= Terminate::kControlSize && size <= Terminate::kMaxSize, "a Terminate is in size");
  return {room.bytes().begin(), room.bytes().begin() + static_cast<std::ptrdiff_t>(size)};
}

bool same(const Terminate& a, const Terminate& b) {
  return a.cause == b.cause && a.segment_length == b.segment_length &&
         a.ddp_header_size == b.ddp_header_size && a.ddp_header == b.ddp_header &&
         a.read_request == b.read_request;
}

void check_round_trip(const Terminate& message) {
  require(std::strlen(describe(message.cause)) != 0, "a cause has a phrase");
  const auto octets = encoded(message);
  const auto again = Terminate::parse(octets);
  require(again && same(*again, message), "what was encoded is parsed as it was");
  require(encoded(*again) == octets, "and encoded as it was");
  require(Terminate::parse_cause(octets) == message.cause, "so is the cause alone");
  for (std::size_t size = 0; size < octets.size(); ++size) {
    const Exact cut(ConstBytes(octets).first(size));
    require(!Terminate::parse(cut.bytes()), "a cut Terminate is none");
  }
}

void parse_arbitrary(ConstBytes octets) {
  const Exact exact(octets);
  const auto message = Terminate::parse(exact.bytes());
  const auto cause = Terminate::parse_cause(exact.bytes());
  require(!message || cause == message->cause, "the cause does not depend on what follows");
  if (cause) require(std::strlen(describe(*cause)) != 0, "a cause has a phrase");
  if (message) check_round_trip(*message);
}

void answer_segment(const Cause& cause, ConstBytes ulpdu) {
  const Exact exact(ulpdu);
  const Terminate message = terminate_for(cause, exact.bytes());
  require(message.ddp_header_size <= ulpdu.size(), "a header is no longer than its segment");
  check_round_trip(message);
}

void run(Input input) {
  const bool as_segment = (input.octet() & 1U) != 0;
  const auto layer = static_cast<Layer>(input.octet() & 0x0FU);
  const auto type = static_cast<std::uint8_t>(input.octet() & 0x0FU);
  const Cause cause{layer, type, input.octet()};
  if (as_segment) return answer_segment(cause, input.rest());
  parse_arbitrary(input.rest());
}

}  // namespace
}  // namespace iwarp::rdmap

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  iwarp::rdmap::run({data, size});
  return 0;
}
