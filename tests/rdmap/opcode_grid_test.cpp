#include "support/rdmap_fixture.hpp"

namespace iwarp::test {
namespace {

// What a Receiver makes of the first segment of a stream by its opcode, for the tagged model and
// for the untagged queues 0 to 3. RFC 5040 §4.1 Figure 4, §7.2.
enum class Answer {
  kOk,        // taken
  kOpcode,    // RDMAP: unexpected opcode
  kNoPosted,  // DDP: no buffer for it, so the message would have been taken
  kShort,     // RDMAP: taken, and found too short
};

constexpr Answer kBad = Answer::kOpcode;
struct GridRow {
  Answer tagged;
  Answer queue[4];
};
constexpr GridRow kGrid[16] = {
    {Answer::kOk, {kBad, kBad, kBad, kBad}},        // Write
    {kBad, {kBad, Answer::kOk, kBad, kBad}},        // Read Request
    {kBad, {kBad, kBad, kBad, kBad}},               // Read Response, none is due
    {kBad, {Answer::kNoPosted, kBad, kBad, kBad}},  // Send
    {kBad, {Answer::kNoPosted, kBad, kBad, kBad}},  // Send with Invalidate
    {kBad, {Answer::kNoPosted, kBad, kBad, kBad}},  // Send with SE
    {kBad, {Answer::kNoPosted, kBad, kBad, kBad}},  // Send with SE and Invalidate
    {kBad, {kBad, kBad, Answer::kOk, kBad}},        // Terminate
    {kBad, {Answer::kNoPosted, kBad, kBad, kBad}},  // Immediate Data
    {kBad, {Answer::kNoPosted, kBad, kBad, kBad}},  // Immediate Data with SE
    {kBad, {kBad, Answer::kShort, kBad, kBad}},     // Atomic Request
    {kBad, {kBad, kBad, kBad, Answer::kNoPosted}},  // Atomic Response, none is due
    {kBad, {kBad, kBad, kBad, kBad}},
    {kBad, {kBad, kBad, kBad, kBad}},  // reserved
    {kBad, {kBad, kBad, kBad, kBad}},
    {kBad, {kBad, kBad, kBad, kBad}},
};

Cause cause_of(Answer answer) {
  if (answer == Answer::kOpcode) return kUnexpectedOpcode;
  return answer == Answer::kShort ? Cause{Layer::kRdmap, 2, 0xFF} : kNoBuffer;
}

void expect_answer(const Outcome& outcome, Answer answer) {
  if (answer != Answer::kOk) return expect_fault(outcome, cause_of(answer));
  EXPECT_TRUE(outcome) << rdmap::describe(outcome.error().terminate.cause);
}

Ulpdu untagged_with(std::uint8_t control, std::uint32_t qn) {
  // The shortest payload that every kind of message can live with: an empty Read Request.
  const Ulpdu payload = encoded(rdmap::ReadRequest{});
  return segment(
      ddp::UntaggedHeader{ddp::Last::kYes, control, 0, QueueNumber{qn}, Msn{1}, MessageOffset{0}},
      payload);
}

Ulpdu tagged_with(std::uint8_t control) {
  return segment(ddp::TaggedHeader{ddp::Last::kYes, control, Stag{0}, TaggedOffset{0}});
}

TEST(OpcodeGrid, AcceptsTaggedSegmentsOfTaggedOpcodesOnly) {
  for (std::uint8_t opcode = 0; opcode < 16; ++opcode) {
    SCOPED_TRACE(unsigned{opcode});
    Endpoint endpoint;
    const auto control = static_cast<std::uint8_t>(0x40U | opcode);
    expect_answer(endpoint.receive(tagged_with(control)), kGrid[opcode].tagged);
  }
}

TEST(OpcodeGrid, AcceptsUntaggedSegmentsOnTheQueueOfTheirOpcodeOnly) {
  for (std::uint8_t opcode = 0; opcode < 16; ++opcode) {
    for (std::uint32_t qn = 0; qn < 4; ++qn) {
      SCOPED_TRACE(std::to_string(opcode) + " on queue " + std::to_string(qn));
      Endpoint endpoint;
      const auto control = static_cast<std::uint8_t>(0x40U | opcode);
      expect_answer(endpoint.receive(untagged_with(control, qn)), kGrid[opcode].queue[qn]);
    }
  }
}

TEST(OpcodeGrid, RefusesTheOpcodesOfRfc7306WithoutTheExtensions) {
  EndpointOptions options;
  options.extensions = rdmap::Extensions::kNone;
  for (unsigned opcode = 8; opcode < 12; ++opcode) {
    for (std::uint32_t qn = 0; qn < 3; ++qn) {
      Endpoint endpoint(options);
      const auto control = static_cast<std::uint8_t>(0x40U | opcode);
      expect_fault(endpoint.receive(untagged_with(control, qn)), kUnexpectedOpcode);
    }
  }
  Endpoint endpoint(options);
  expect_fault(endpoint.receive(untagged_with(0x4B, 3)), {Layer::kDdp, 2, 0x01});
}

TEST(OpcodeGrid, RefusesQueuesBeyondTheLastWhateverTheOpcode) {
  for (const std::uint32_t qn : {4U, 5U, 0x100U, 0x80000000U, 0xFFFFFFFFU}) {
    Endpoint endpoint;
    expect_fault(endpoint.receive(untagged_with(0x43, qn)), {Layer::kDdp, 2, 0x01});
  }
}

TEST(OpcodeGrid, RefusesOtherVersionsBeforeItLooksAtTheOpcode) {
  for (const unsigned version : {0U, 2U, 3U}) {
    for (unsigned opcode = 0; opcode < 16; ++opcode) {
      const auto control = static_cast<std::uint8_t>(version << 6U | opcode);
      Endpoint first;
      expect_fault(first.receive(tagged_with(control)), kInvalidRdmapVersion);
      for (std::uint32_t qn = 0; qn < 3; ++qn) {
        Endpoint second;
        expect_fault(second.receive(untagged_with(control, qn)), kInvalidRdmapVersion);
      }
    }
  }
}

TEST(OpcodeGrid, IgnoresReservedBitsOfTheControlField) {  // RFC 5040 §4.1: bits 26-27
  for (unsigned reserved = 0; reserved < 4; ++reserved) {
    Endpoint first;
    EXPECT_TRUE(first.receive(tagged_with(static_cast<std::uint8_t>(0x40U | reserved << 4U))));
    Endpoint second;
    EXPECT_TRUE(
        second.receive(untagged_with(static_cast<std::uint8_t>(0x41U | reserved << 4U), 1)));
  }
}

}  // namespace
}  // namespace iwarp::test
