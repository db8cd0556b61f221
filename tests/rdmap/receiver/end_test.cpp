#include "support/rdmap_fixture.hpp"
#include "support/vectors.hpp"

namespace iwarp::test {
namespace {

using ddp::Last;
using rdmap::Placed;
using rdmap::ReadyToReceive;
using rdmap::SendDelivered;

class ReceiverEnd : public ReceiverTest {
 protected:
  Outcome take_terminate(const Ulpdu& message) {
    return take(segment(untagged(Opcode::kTerminate, 1), message));
  }
};

TEST_F(ReceiverEnd, DeliversATerminate) {
  rdmap::Terminate message;
  message.cause = {Layer::kDdp, 1, 0x01};
  message.segment_length = 77;
  message.ddp_header_size = ddp::kTaggedHeaderSize;
  message.ddp_header[0] = std::byte{0xC1};
  const auto received = event_of<rdmap::Terminate>(take_terminate(encoded(message)));
  EXPECT_EQ(received.cause, message.cause);
  EXPECT_EQ(received.segment_length, 77);
  EXPECT_EQ(received.ddp_header, message.ddp_header);
}

TEST_F(ReceiverEnd, DeliversATerminateInSegments) {
  rdmap::Terminate message;
  message.cause = {Layer::kRdmap, 1, 0x02};
  message.read_request = rdmap::ReadRequest{Stag{1}, TaggedOffset{2}, 3, Stag{4}, TaggedOffset{5}};
  const Ulpdu bytes = encoded(message);
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    const auto mo = static_cast<std::uint32_t>(i);
    event_of<Placed>(take(
        segment(untagged(Opcode::kTerminate, 1, mo, Last::kNo), ConstBytes(bytes).subspan(i, 1))));
  }
  const auto mo = static_cast<std::uint32_t>(bytes.size() - 1);
  const auto received = event_of<rdmap::Terminate>(
      take(segment(untagged(Opcode::kTerminate, 1, mo), ConstBytes(bytes).last(1))));
  EXPECT_EQ(received.read_request, message.read_request);
}

TEST_F(ReceiverEnd, DropsWhateverFollowsATerminate) {
  post_receive(11);
  event_of<rdmap::Terminate>(take_terminate(encoded(rdmap::Terminate{})));
  EXPECT_TRUE(is_dropped(take_send(1, 0, pattern(4))));
  EXPECT_TRUE(is_dropped(take_write(0, pattern(4))));
  EXPECT_TRUE(is_dropped(take_terminate(encoded(rdmap::Terminate{}))));
  EXPECT_TRUE(is_dropped(take({}))) << "not even looked at";
  EXPECT_TRUE(untouched());
  EXPECT_EQ(endpoint.receives.taken(), 0U);
}

TEST_F(ReceiverEnd, KeepsTheCauseOfATerminateThatIsCutShort) {
  const auto received = event_of<rdmap::Terminate>(take_terminate(from_hex("01 02 e0 00 00")));
  EXPECT_EQ(received.cause, (Cause{Layer::kRdmap, 1, 0x02}));
  EXPECT_EQ(received.ddp_header_size, 0U);
}

TEST_F(ReceiverEnd, TakesAnEmptyTerminateForTheEndOfTheStream) {
  const auto received = event_of<rdmap::Terminate>(take_terminate({}));
  EXPECT_EQ(received.cause, (Cause{Layer::kRdmap, 2, 0xFF}));
}

TEST_F(ReceiverEnd, RefusesATerminateLongerThanAnyCanBe) {
  expect_fault(take_terminate(Ulpdu(129)), {Layer::kDdp, 2, 0x05});
}

TEST_F(ReceiverEnd, RefusesASegmentShorterThanItsHeader) {
  for (std::size_t size = 0; size < ddp::kUntaggedHeaderSize; ++size) {
    Endpoint other;
    const Outcome outcome =
        other.receive(ConstBytes(segment(untagged(Opcode::kSend, 1))).first(size));
    expect_fault(outcome, {Layer::kRdmap, 2, 0x07});
    EXPECT_EQ(outcome.error().terminate.ddp_header_size, 0U);
  }
  for (std::size_t size = 0; size < ddp::kTaggedHeaderSize; ++size) {
    Endpoint other;
    const Ulpdu whole = segment(tagged(Opcode::kWrite, Stag{1}, TaggedOffset{0}));
    expect_fault(other.receive(ConstBytes(whole).first(size)), {Layer::kRdmap, 2, 0x07});
  }
}

TEST_F(ReceiverEnd, ReportsTheFirstFaultOnly) {  // RFC 5040 §7.1 rule 4
  expect_fault(take_send(1, 0, pattern(4)), kNoBuffer);
  EXPECT_TRUE(is_dropped(take_send(9, 9, pattern(4))));
  const auto sent = endpoint.transmit(1500);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0][18], std::byte{0x12});
  EXPECT_EQ(sent[0][19], std::byte{0x02});
}

TEST_F(ReceiverEnd, DropsEveryKindOfSegmentAfterAFault) {  // RFC 5041 §7.1
  issue_read(10);
  ASSERT_FALSE(take_send(1, 0, pattern(4)));
  post_receive(11);
  EXPECT_TRUE(is_dropped(take_send(1, 0, pattern(4))));
  EXPECT_TRUE(is_dropped(take_write(0, pattern(4))));
  EXPECT_TRUE(is_dropped(take(segment(
      tagged(Opcode::kReadResponse, endpoint.reads.sink_stag(0), TaggedOffset{0}), pattern(10)))));
  EXPECT_TRUE(
      is_dropped(take(segment(untagged(Opcode::kReadRequest, 1), encoded(rdmap::ReadRequest{})))));
  EXPECT_TRUE(untouched());
  EXPECT_EQ(endpoint.receives.taken(), 0U);
  EXPECT_EQ(endpoint.responses.tail(), 0U);
  EXPECT_EQ(endpoint.reads.finished(), 0U);
}

class ReceiverRtr : public ReceiverTest {
 protected:
  static EndpointOptions expecting_rtr() {
    EndpointOptions options;
    options.first = rdmap::FirstMessage::kMayBeRtrSend;
    return options;
  }
  ReceiverRtr() : ReceiverTest(expecting_rtr()) {}
};

TEST_F(ReceiverRtr, SendTakesMsnOneButNoReceive) {  // RFC 6581 §9.2
  event_of<ReadyToReceive>(take_send(1, 0, {}));
  EXPECT_EQ(endpoint.receives.taken(), 0U);
  post_receive(11);
  EXPECT_EQ(event_of<SendDelivered>(take_send(2, 0, pattern(4))).cookie, 11U);
}

TEST_F(ReceiverRtr, SendIsTheFirstMessageOrNone) {
  event_of<ReadyToReceive>(take_send(1, 0, {}));
  expect_fault(take_send(2, 0, {}), kNoBuffer);
}

TEST_F(ReceiverRtr, IsNotASendBehindAWrite) {
  event_of<rdmap::PlacedWrite>(take_write(0, pattern(4)));
  expect_fault(take_send(1, 0, {}), kNoBuffer);
}

TEST_F(ReceiverRtr, IsNotASendWithData) {
  post_receive(11);
  EXPECT_EQ(event_of<SendDelivered>(take_send(1, 0, pattern(4))).cookie, 11U);
}

TEST_F(ReceiverRtr, IsNotTheBeginningOfASend) {
  post_receive(11);
  event_of<Placed>(take_send(1, 0, {}, Last::kNo));
  EXPECT_EQ(event_of<SendDelivered>(take_send(1, 0, pattern(4))).cookie, 11U);
}

TEST_F(ReceiverRtr, IsNotASendOfAnotherKind) {
  post_receive(11);
  EXPECT_EQ(event_of<SendDelivered>(take(segment(untagged(Opcode::kSendSolicited, 1)))).cookie,
            11U);
}

TEST_F(ReceiverRtr, SendWithAMessageOffsetIsRefused) {
  post_receive(11);
  expect_fault(take_send(1, 4, {}), {Layer::kDdp, 2, 0x04});
}

TEST_F(ReceiverRtr, SendOutOfTurnIsRefused) {
  expect_fault(take_send(2, 0, {}), {Layer::kDdp, 2, 0x03});
}

TEST_F(ReceiverEnd, TakesAnEmptyFirstSendForASendIfNoRtrIsExpected) {
  post_receive(11);
  EXPECT_EQ(event_of<SendDelivered>(take_send(1, 0, {})).cookie, 11U);
}

}  // namespace
}  // namespace iwarp::test
