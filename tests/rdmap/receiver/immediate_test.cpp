#include "support/rdmap_fixture.hpp"

/// Immediate Data that a peer sends. RFC 7306 §6.3.
namespace iwarp::test {
namespace {

using rdmap::SendDelivered;

class ReceiverImmediate : public ReceiverTest {
 protected:
  Outcome immediate(const Ulpdu& octets, std::uint32_t msn = 1,
                    Opcode opcode = Opcode::kImmediate) {
    return take(segment(untagged(opcode, msn), octets));
  }
  const Ulpdu eight = pattern(8);
  const std::uint64_t value = load_be<std::uint64_t>(eight.data());
};

TEST_F(ReceiverImmediate, TakesAReceiveButNotItsMemory) {
  post_receive(5);
  const auto event = event_of<SendDelivered>(immediate(eight));
  EXPECT_EQ(event.cookie, 5U);
  EXPECT_EQ(event.immediate, value);
  EXPECT_EQ(event.length, 0U);
  EXPECT_FALSE(event.solicited);
  EXPECT_TRUE(untouched());
  EXPECT_EQ(endpoint.receives.taken(), 1U);
}

TEST_F(ReceiverImmediate, TakesAReceiveWithoutMemory) {
  endpoint.receives.post(6, {});
  EXPECT_EQ(event_of<SendDelivered>(immediate(eight)).immediate, value);
}

TEST_F(ReceiverImmediate, MayBeSolicited) {
  post_receive(1);
  EXPECT_TRUE(event_of<SendDelivered>(immediate(eight, 1, Opcode::kImmediateSolicited)).solicited);
}

TEST_F(ReceiverImmediate, IsDeliveredInOrderAmongSends) {
  for (std::uint64_t i = 1; i <= 3; ++i) post_receive(i);
  EXPECT_EQ(event_of<SendDelivered>(take_send(1, 0, pattern(3))).cookie, 1U);
  EXPECT_EQ(event_of<SendDelivered>(immediate(eight, 2)).cookie, 2U);
  const auto last = event_of<SendDelivered>(take_send(3, 0, pattern(3)));
  EXPECT_EQ(last.cookie, 3U);
  EXPECT_FALSE(last.immediate);
}

TEST_F(ReceiverImmediate, TellsTheLengthOfTheWriteRightBeforeIt) {
  for (std::uint64_t i = 1; i <= 2; ++i) post_receive(i);
  EXPECT_TRUE(take_write(0, pattern(100), ddp::Last::kNo));
  EXPECT_TRUE(take_write(100, pattern(20)));
  EXPECT_EQ(event_of<SendDelivered>(immediate(eight)).length, 120U);
  EXPECT_EQ(event_of<SendDelivered>(immediate(eight, 2)).length, 0U);
}

TEST_F(ReceiverImmediate, IsExactlyEightOctets) {
  for (std::size_t size = 0; size < 12; ++size) {
    if (size == 8) continue;
    Endpoint fresh;
    fresh.receives.post(1, {});
    const auto outcome = fresh.receive(segment(untagged(Opcode::kImmediate, 1), pattern(size)));
    expect_fault(outcome, size > 8 ? Cause{Layer::kDdp, 2, 0x05} : Cause{Layer::kRdmap, 2, 0xFF});
    EXPECT_FALSE(outcome.error().exceeds_receive);
  }
}

TEST_F(ReceiverImmediate, MayComeInPieces) {
  post_receive(1);
  EXPECT_TRUE(take(
      segment(untagged(Opcode::kImmediate, 1, 0, ddp::Last::kNo), ConstBytes(eight).first(3))));
  const auto event = event_of<SendDelivered>(
      take(segment(untagged(Opcode::kImmediate, 1, 3), ConstBytes(eight).subspan(3))));
  EXPECT_EQ(event.immediate, value);
}

TEST_F(ReceiverImmediate, NeedsAReceive) { expect_fault(immediate(eight), kNoBuffer); }

}  // namespace
}  // namespace iwarp::test
