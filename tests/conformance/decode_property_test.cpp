#include <random>

#include "conformance/decode_support.hpp"
#include "wire/startup_frame.hpp"

/// The decoder stays inside the octets, even of no frame, and shows each of them.
namespace iwarp::conform::test {
namespace {

class Source {
 public:
  explicit Source(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

Octets sound_payload(Source& source, Opcode opcode) {
  switch (opcode) {
    case kReadRequest: return encode(ReadRequest{.size = 5});
    case kAtomicRequest: return encode(AtomicRequest{});
    case kAtomicResponse: return encode(AtomicResponse{});
    case kTerminate: {
      const bool all = source.one_in(2);
      Terminate terminate;
      terminate.cause = {1, 2, 3};
      terminate.has_length = terminate.has_ddp_header = all;
      if (all) {
        terminate.segment_length = 40;
        terminate.ddp_header = encode(untagged_segment(kSend, 0, 1, 0, {}));
      }
      return encode(terminate);
    }
    default: return pattern(source.below(1400));
  }
}

Event sound_event(Source& source) {
  if (source.one_in(5)) {
    StartupFrame frame;
    frame.flags = static_cast<std::uint8_t>(source.below(256));
    if (source.one_in(2)) frame.enhanced = EnhancedData{.ird = 3};
    frame.private_data = pattern(source.below(40));
    return startup_event(encode(frame));
  }
  const auto opcode = static_cast<Opcode>(source.below(12));
  const Octets payload = sound_payload(source, opcode);
  const bool tagged = opcode == kWrite || opcode == kReadResponse;
  const Segment segment =
      tagged ? tagged_segment(opcode, 1, 2, payload) : untagged_segment(opcode, 0, 1, 0, payload);
  return fpdu_event(encode(segment), {.crc = !source.one_in(4), .markers = source.one_in(2)}, {},
                    4 * source.below(300));
}

void damage(Source& source, Event& event) {
  for (auto n = source.below(6); n > 0 && !event.octets.empty(); --n) {
    // Mostly the front, where the headers are.
    const std::size_t reach = source.one_in(3) ? event.octets.size() : 40;
    const std::size_t at = source.below(std::min(reach, event.octets.size()));
    event.octets[at] = static_cast<std::uint8_t>(source.below(256));
  }
  if (source.one_in(3)) event.octets.resize(source.below(event.octets.size() + 9));
  if (source.one_in(4)) event.position += source.below(9);
  if (source.one_in(9)) {
    event.kind = event.kind == Event::Kind::kFpduReceived ? Event::Kind::kStartupReceived
                                                          : Event::Kind::kFpduReceived;
  }
}

TEST(DecodeAnything, ShowsEachOctetOnceAndNoOther) {
  for (std::uint64_t seed = 0; seed < 8000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Source source(seed);
    Event event = sound_event(source);
    damage(source, event);
    const Decoded decoded = decode(event);
    EXPECT_FALSE(decoded.summary.empty());
    expect_partition(event, decoded);
    if (HasFatalFailure()) return;
  }
}

TEST(DecodeAnything, ShowsOctetsOfTheSocketAsOctets) {
  const Event event{.kind = Event::Kind::kRawReceived, .octets = pattern(3)};
  const Decoded decoded = decode(event);
  EXPECT_EQ(decoded.summary, "3 octets read from the socket");
  expect_partition(event, decoded);
}

TEST(DecodeAnything, TellsATextAsItIs) {
  const Decoded decoded = decode({.kind = Event::Kind::kAgentReply, .text = "ok port=3"});
  EXPECT_EQ(decoded.summary, "ok port=3");
  EXPECT_TRUE(decoded.fields.empty());
}

}  // namespace
}  // namespace iwarp::conform::test
