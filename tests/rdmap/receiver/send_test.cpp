#include "support/rdmap_fixture.hpp"

namespace iwarp::test {
namespace {

using ddp::Last;
using rdmap::Placed;
using rdmap::SendDelivered;

class ReceiverSend : public ReceiverTest {
 protected:
  void expect_refused(const Ulpdu& ulpdu, const Cause& cause) {
    const Outcome outcome = take(ulpdu);
    expect_fault(outcome, cause);
    EXPECT_TRUE(untouched());
    if (outcome) return;
    EXPECT_EQ(outcome.error().terminate.segment_length, ulpdu.size());
    EXPECT_EQ(outcome.error().terminate.ddp_header_size, ddp::kUntaggedHeaderSize);
    EXPECT_EQ(outcome.error().terminate.read_request, std::nullopt);
  }
  Outcome take_invalidate(Stag stag, Last last = Last::kYes, std::uint32_t mo = 0) {
    auto header = untagged(Opcode::kSendInvalidate, 1, mo, last);
    header.rsvd_ulp_word = stag.value();
    return take(segment(header, pattern(4)));
  }
  bool in_force(const Region& region) {
    return endpoint.stags.pin(region.stag, kPd, ddp::Rights::kNone, region.base, 1).has_value();
  }
};

TEST_F(ReceiverSend, IsDeliveredIntoTheOldestReceive) {
  endpoint.receives.post(11, {inbox.sge(0, 100)});
  endpoint.receives.post(12, {inbox.sge(100, 100)});
  const auto first = event_of<SendDelivered>(take_send(1, 0, pattern(60)));
  EXPECT_EQ(first.cookie, 11U);
  EXPECT_EQ(first.length, 60U);
  EXPECT_FALSE(first.solicited);
  EXPECT_EQ(first.invalidated, std::nullopt);
  const auto second = event_of<SendDelivered>(take_send(2, 0, pattern(100, 1)));
  EXPECT_EQ(second.cookie, 12U);
  EXPECT_EQ(second.length, 100U);
  EXPECT_TRUE(equal(inbox.part(0, 60), pattern(60)));
  EXPECT_TRUE(all_zero(inbox.part(60, 40)));
  EXPECT_TRUE(equal(inbox.part(100, 100), pattern(100, 1)));
}

TEST_F(ReceiverSend, FillsAScatterList) {
  endpoint.receives.post(11, {inbox.sge(200, 3), inbox.sge(0, 0), inbox.sge(10, 5)});
  EXPECT_EQ(event_of<SendDelivered>(take_send(1, 0, pattern(8))).length, 8U);
  EXPECT_TRUE(equal(inbox.part(200, 3), ConstBytes(pattern(8)).first(3)));
  EXPECT_TRUE(equal(inbox.part(10, 5), ConstBytes(pattern(8)).subspan(3)));
}

TEST_F(ReceiverSend, ComesInSegmentsAndIsDeliveredWithTheLast) {
  post_receive(11);
  const Ulpdu data = pattern(300);
  event_of<Placed>(take_send(1, 0, ConstBytes(data).first(110), Last::kNo));
  event_of<Placed>(take_send(1, 110, ConstBytes(data).subspan(110, 110), Last::kNo));
  EXPECT_EQ(endpoint.receives.taken(), 1U);
  const auto sent = event_of<SendDelivered>(take_send(1, 220, ConstBytes(data).subspan(220)));
  EXPECT_EQ(sent.length, 300U);
  EXPECT_TRUE(equal(inbox.part(0, 300), data));
}

TEST_F(ReceiverSend, OfNothingConsumesAReceive) {  // RFC 5040 §5.3
  endpoint.receives.post(11, {});
  EXPECT_EQ(event_of<SendDelivered>(take_send(1, 0, {})).cookie, 11U);
  expect_fault(take_send(2, 0, {}), kNoBuffer);
}

TEST_F(ReceiverSend, TellsTheKindsApart) {
  struct Row {
    Opcode opcode;
    bool solicited, invalidates;
  };
  std::uint32_t msn = 1;
  for (const Row& row : {Row{Opcode::kSend, false, false}, Row{Opcode::kSendSolicited, true, false},
                         Row{Opcode::kSendInvalidate, false, true},
                         Row{Opcode::kSendSolicitedInvalidate, true, true}}) {
    const Region& window = endpoint.enable(16, ddp::Rights::kRemoteInvalidate);
    post_receive(msn);
    auto header = untagged(row.opcode, msn);
    header.rsvd_ulp_word = window.stag.value();
    const auto sent = event_of<SendDelivered>(take(segment(header, pattern(4))));
    EXPECT_EQ(sent.cookie, msn++);
    EXPECT_EQ(sent.solicited, row.solicited);
    EXPECT_EQ(sent.invalidated, row.invalidates ? std::optional(window.stag) : std::nullopt);
    EXPECT_EQ(in_force(window), !row.invalidates);
  }
}

TEST_F(ReceiverSend, InvalidatesUponDeliveryAndNotBefore) {  // RFC 5040 §5.3
  const Region& window = endpoint.enable(16, ddp::Rights::kRemoteInvalidate);
  post_receive(11);
  event_of<Placed>(take_invalidate(window.stag, Last::kNo));
  EXPECT_TRUE(in_force(window));
  event_of<SendDelivered>(take_invalidate(window.stag, Last::kYes, 4));
  EXPECT_FALSE(in_force(window));
}

// The sender gives all segments the same, which the sink need not check (RFC 5041 §4.3).
TEST_F(ReceiverSend, InvalidatesWhatItsFirstSegmentNames) {
  const Region& first = endpoint.enable(16, ddp::Rights::kRemoteInvalidate);
  const Region& other = endpoint.enable(16, ddp::Rights::kRemoteInvalidate);
  post_receive(11);
  event_of<Placed>(take_invalidate(first.stag, Last::kNo));
  EXPECT_EQ(event_of<SendDelivered>(take_invalidate(other.stag, Last::kYes, 4)).invalidated,
            std::optional(first.stag));
  EXPECT_FALSE(in_force(first));
  EXPECT_TRUE(in_force(other));
}

TEST_F(ReceiverSend, ThatMayNotInvalidateIsNotDelivered) {  // RFC 5040 §5.3, §7.2
  const Region& foreign = endpoint.enable(16, ddp::Rights::kRemoteInvalidate, kOtherPd);
  for (const Stag stag : {exposed.stag, foreign.stag, Stag{0xDEADBEEF}, Stag{0}}) {
    Endpoint other;
    Region& room = other.enable(64, ddp::Rights::kLocalWrite);
    Region& shut = other.enable(64, ddp::Rights::kRemoteWrite);
    other.receives.post(5, {room.sge(0, 64)});
    auto header = untagged(Opcode::kSendInvalidate, 1);
    header.rsvd_ulp_word = stag == exposed.stag ? shut.stag.value() : stag.value();
    const Outcome outcome = other.receive(segment(header, pattern(4)));
    expect_fault(outcome, {Layer::kRdmap, 1, 0x09});
    EXPECT_EQ(outcome.error().terminate.ddp_header_size, ddp::kUntaggedHeaderSize);
    EXPECT_EQ(outcome.error().terminate.read_request, std::nullopt);
    EXPECT_EQ(other.receiver.abandon()->cookie, 5U);
  }
}

TEST_F(ReceiverSend, OfADomainNextDoorMayNotInvalidate) {
  const Region& foreign = endpoint.enable(16, ddp::Rights::kRemoteInvalidate, kOtherPd);
  post_receive(11);
  expect_fault(take_invalidate(foreign.stag), {Layer::kRdmap, 1, 0x09});
  EXPECT_TRUE(endpoint.stags.pin(foreign.stag, kOtherPd, ddp::Rights::kNone, foreign.base, 1));
}

TEST_F(ReceiverSend, WithoutAReceiveIsRefused) {
  expect_refused(segment(untagged(Opcode::kSend, 1), pattern(4)), kNoBuffer);
  EXPECT_EQ(endpoint.receiver.abandon(), std::nullopt);
}

TEST_F(ReceiverSend, OutOfTurnIsRefused) {
  for (const std::uint32_t msn : {0U, 2U, 0xFFFFFFFFU}) {
    Endpoint other;
    other.receives.post(1, {});
    expect_fault(other.receive(segment(untagged(Opcode::kSend, msn))), {Layer::kDdp, 2, 0x03});
    EXPECT_EQ(other.receives.taken(), 0U);
  }
}

TEST_F(ReceiverSend, ThatComesTwiceIsRefused) {
  endpoint.receives.post(11, {});
  endpoint.receives.post(12, {});
  event_of<SendDelivered>(take_send(1, 0, {}));
  expect_refused(segment(untagged(Opcode::kSend, 1)), {Layer::kDdp, 2, 0x03});
}

TEST_F(ReceiverSend, ThatStartsBehindItsBeginningIsRefused) {
  post_receive(11);
  expect_refused(segment(untagged(Opcode::kSend, 1, 1), pattern(4)), {Layer::kDdp, 2, 0x04});
}

TEST_F(ReceiverSend, WithAGapOrAnOverlapIsRefused) {
  for (const std::uint32_t mo : {0U, 9U, 11U}) {
    Endpoint other;
    Region& room = other.enable(64, ddp::Rights::kLocalWrite);
    other.receives.post(5, {room.sge(0, 64)});
    event_of<Placed>(other.receive(segment(untagged(Opcode::kSend, 1, 0, Last::kNo), pattern(10))));
    expect_fault(other.receive(segment(untagged(Opcode::kSend, 1, mo), pattern(10))),
                 {Layer::kDdp, 2, 0x04});
    EXPECT_TRUE(all_zero(room.part(10, 54)));
  }
}

TEST_F(ReceiverSend, LongerThanItsReceiveIsRefused) {
  post_receive(11, 10);
  expect_refused(segment(untagged(Opcode::kSend, 1), pattern(11)), {Layer::kDdp, 2, 0x05});
}

TEST_F(ReceiverSend, ThatGrowsBeyondItsReceiveIsRefused) {
  post_receive(11, 10);
  event_of<Placed>(take_send(1, 0, pattern(10), Last::kNo));
  const Outcome outcome = take_send(1, 10, pattern(1));
  expect_fault(outcome, {Layer::kDdp, 2, 0x05});
  EXPECT_TRUE(outcome.error().exceeds_receive);
  EXPECT_TRUE(all_zero(inbox.part(10, kSize - 10)));
}

TEST_F(ReceiverSend, OfAnotherDdpVersionIsRefused) {
  post_receive(11);
  Ulpdu ulpdu = segment(untagged(Opcode::kSend, 1), pattern(4));
  ulpdu[0] ^= std::byte{0x02};
  expect_refused(ulpdu, {Layer::kDdp, 2, 0x06});
}

TEST_F(ReceiverSend, IntoMemoryThatIsNotOursBlamesOurselves) {
  endpoint.receives.post(11, {{inbox.base.value(), 10, Stag{0xDEADBEEF}}});
  const Outcome outcome = take_send(1, 0, pattern(4));
  expect_fault(outcome, {Layer::kRdmap, 0, 0x00});
  EXPECT_EQ(outcome.error().local_memory, ddp::Error::kInvalidStag);
  EXPECT_FALSE(outcome.error().in_sink);
  EXPECT_EQ(outcome.error().terminate.ddp_header_size, 0U);
  EXPECT_EQ(endpoint.receiver.abandon()->cookie, 11U);
}

TEST_F(ReceiverSend, HalfReceivedGivesItsReceiveBackOnce) {
  post_receive(11);
  event_of<Placed>(take_send(1, 0, pattern(10), Last::kNo));
  const auto open = endpoint.receiver.abandon();
  ASSERT_TRUE(open);
  EXPECT_EQ(open->cookie, 11U);
  EXPECT_EQ(endpoint.receiver.abandon(), std::nullopt);
  EXPECT_TRUE(is_dropped(take_send(1, 10, pattern(10)))) << "abandoning ends the stream";
  EXPECT_TRUE(all_zero(inbox.part(10, kSize - 10)));
}

TEST_F(ReceiverSend, DeliveredHasNothingToGiveBack) {
  post_receive(11);
  event_of<SendDelivered>(take_send(1, 0, pattern(10)));
  EXPECT_EQ(endpoint.receiver.abandon(), std::nullopt);
}

TEST_F(ReceiverSend, GoesOnBetweenSegmentsOfWrites) {  // tagged messages are not tied to queues
  post_receive(11);
  event_of<Placed>(take_send(1, 0, pattern(10), Last::kNo));
  event_of<rdmap::PlacedWrite>(take_write(0, pattern(10)));
  EXPECT_EQ(event_of<SendDelivered>(take_send(1, 10, pattern(10))).length, 20U);
}

}  // namespace
}  // namespace iwarp::test
