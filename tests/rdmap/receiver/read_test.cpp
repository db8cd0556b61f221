#include "support/rdmap_fixture.hpp"

namespace iwarp::test {
namespace {

using ddp::Last;
using rdmap::Placed;
using rdmap::ReadRequest;
using rdmap::ReadRequestDelivered;

class ReceiverReadRequest : public ReceiverTest {
 protected:
  ReadRequest ask(std::uint32_t size, std::uint64_t at = 0) {
    return {Stag{0x5151}, TaggedOffset{0x6161}, size, exposed.stag, exposed.to(at)};
  }
  Outcome take_request(std::uint32_t msn, const ReadRequest& request) {
    return take(segment(untagged(Opcode::kReadRequest, msn), encoded(request)));
  }
  void expect_refused(const ReadRequest& request, std::uint8_t code) {
    const Outcome outcome = take_request(1, request);
    expect_fault(outcome, {Layer::kRdmap, 1, code});
    const rdmap::Terminate& message = outcome.error().terminate;
    EXPECT_EQ(message.segment_length, 46);
    EXPECT_EQ(message.ddp_header_size, ddp::kUntaggedHeaderSize);
    EXPECT_EQ(message.read_request, request) << "the requester learns which Read failed";
    EXPECT_EQ(endpoint.responses.tail(), 0U);
  }
};

TEST_F(ReceiverReadRequest, WaitsForItsResponse) {
  const ReadRequest request = ask(100, 7);
  event_of<ReadRequestDelivered>(take_request(1, request));
  ASSERT_EQ(endpoint.responses.tail(), 1U);
  EXPECT_EQ(endpoint.responses.at(0).read, request);
  EXPECT_EQ(endpoint.receives.taken(), 0U);
}

TEST_F(ReceiverReadRequest, MayComeInSegments) {
  for (std::size_t cut = 0; cut <= ReadRequest::kSize; ++cut) {
    Endpoint other;
    Region& source = other.enable(64, ddp::Rights::kRemoteRead);
    const ReadRequest request{Stag{1}, TaggedOffset{2}, 10, source.stag, source.base};
    const Ulpdu bytes = encoded(request);
    event_of<Placed>(other.receive(
        segment(untagged(Opcode::kReadRequest, 1, 0, Last::kNo), ConstBytes(bytes).first(cut))));
    EXPECT_EQ(other.responses.tail(), 0U) << "not before it is delivered";
    event_of<ReadRequestDelivered>(
        other.receive(segment(untagged(Opcode::kReadRequest, 1, static_cast<std::uint32_t>(cut)),
                              ConstBytes(bytes).subspan(cut))));
    EXPECT_EQ(other.responses.at(0).read, request) << "cut at " << cut;
  }
}

TEST_F(ReceiverReadRequest, InSegmentsIsEchoedWholeWhenItIsRefused) {
  ReadRequest request = ask(10);
  request.source_stag = Stag{0xDEADBEEF};
  const Ulpdu bytes = encoded(request);
  event_of<Placed>(
      take(segment(untagged(Opcode::kReadRequest, 1, 0, Last::kNo), ConstBytes(bytes).first(20))));
  const Outcome outcome =
      take(segment(untagged(Opcode::kReadRequest, 1, 20), ConstBytes(bytes).subspan(20)));
  expect_fault(outcome, {Layer::kRdmap, 1, 0x00});
  EXPECT_EQ(outcome.error().terminate.read_request, request);
  EXPECT_EQ(outcome.error().terminate.segment_length, 18 + 8);
}

TEST_F(ReceiverReadRequest, OfNothingNamesNothing) {  // RFC 5040 §5.2.1
  event_of<ReadRequestDelivered>(
      take_request(1, {Stag{1}, TaggedOffset{2}, 0, Stag{0xDEADBEEF}, TaggedOffset{~0ULL}}));
  EXPECT_EQ(endpoint.responses.tail(), 1U);
}

TEST_F(ReceiverReadRequest, ReachesItsSourceFromEdgeToEdge) {
  event_of<ReadRequestDelivered>(take_request(1, ask(kSize)));
  event_of<ReadRequestDelivered>(take_request(2, ask(1, kSize - 1)));
}

TEST_F(ReceiverReadRequest, OfAnUnknownSourceIsRefused) {
  ReadRequest request = ask(1);
  request.source_stag = Stag{0xDEADBEEF};
  expect_refused(request, 0x00);
}

TEST_F(ReceiverReadRequest, PastItsSourceIsRefused) { expect_refused(ask(2, kSize - 1), 0x01); }

TEST_F(ReceiverReadRequest, BelowItsSourceIsRefused) {
  ReadRequest request = ask(2);
  request.source_to = TaggedOffset{exposed.base.value() - 1};
  expect_refused(request, 0x01);
}

TEST_F(ReceiverReadRequest, WithoutRemoteReadIsRefused) {  // a hole that siw had
  const Region& writable = endpoint.enable(64, ddp::Rights::kRemoteWrite);
  expect_refused({Stag{1}, TaggedOffset{0}, 1, writable.stag, writable.base}, 0x02);
}

TEST_F(ReceiverReadRequest, OfAnotherDomainIsRefused) {
  const Region& foreign = endpoint.enable(64, ddp::Rights::kRemoteRead, kOtherPd);
  expect_refused({Stag{1}, TaggedOffset{0}, 1, foreign.stag, foreign.base}, 0x03);
}

TEST_F(ReceiverReadRequest, ThatWrapsIsRefused) {
  ReadRequest request = ask(2);
  request.source_to = TaggedOffset{~std::uint64_t{0}};
  expect_refused(request, 0x04);
}

TEST_F(ReceiverReadRequest, OfAnotherLengthIsRefused) {
  for (std::size_t size = 0; size < 40; ++size) {
    if (size == ReadRequest::kSize) continue;
    Endpoint other;
    const Outcome outcome = other.receive(segment(untagged(Opcode::kReadRequest, 1), Ulpdu(size)));
    expect_fault(outcome, size < ReadRequest::kSize ? Cause{Layer::kRdmap, 2, 0xFF}
                                                    : Cause{Layer::kDdp, 2, 0x05});
    EXPECT_EQ(other.responses.tail(), 0U);
  }
}

TEST_F(ReceiverReadRequest, OutOfTurnIsRefused) {
  expect_fault(take_request(2, ask(1)), {Layer::kDdp, 2, 0x03});
}

TEST_F(ReceiverReadRequest, BeyondIrdIsRefused) {  // RFC 5040 §6.1
  for (std::uint32_t msn = 1; msn <= 4; ++msn) {
    event_of<ReadRequestDelivered>(take_request(msn, ask(1)));
  }
  expect_fault(take_request(5, ask(1)), kNoBuffer);
  EXPECT_EQ(endpoint.responses.tail(), 4U);
}

TEST_F(ReceiverReadRequest, IsWelcomeAgainOnceAResponseLeaves) {
  for (std::uint32_t msn = 1; msn <= 20; ++msn) {
    event_of<ReadRequestDelivered>(take_request(msn, ask(1)));
    EXPECT_EQ(endpoint.transmit(1500).size(), 1U);
  }
}

TEST_F(ReceiverReadRequest, IsRefusedWhereNoReadsAreAgreed) {
  EndpointOptions none;
  none.ird = 0;
  Endpoint other(none);
  expect_fault(other.receive(segment(untagged(Opcode::kReadRequest, 1), encoded(ReadRequest{}))),
               kNoBuffer);
}

class ReceiverReadResponse : public ReceiverTest {
 protected:
  Outcome take_response(std::uint32_t read, std::uint64_t to, ConstBytes payload,
                        Last last = Last::kYes) {
    return take(segment(
        tagged(Opcode::kReadResponse, endpoint.reads.sink_stag(read), TaggedOffset{to}, last),
        payload));
  }
};

TEST_F(ReceiverReadResponse, IsPlacedInTheSinkOfItsRead) {
  issue_read(100);
  event_of<rdmap::RequestFinished>(take_response(0, 0, pattern(100)));
  EXPECT_TRUE(equal(local.part(0, 100), pattern(100)));
  EXPECT_TRUE(all_zero(local.part(100, kSize - 100)));
  EXPECT_EQ(endpoint.reads.finished(), 1U);
}

TEST_F(ReceiverReadResponse, ComesInSegmentsIntoAScatterList) {
  endpoint.post(request_of(rdmap::Operation::kRead),
                {local.sge(300, 50), local.sge(0, 0), local.sge(10, 200)});
  endpoint.transmit(1500);
  const Ulpdu data = pattern(250);
  event_of<Placed>(take_response(0, 0, ConstBytes(data).first(114), Last::kNo));
  event_of<Placed>(take_response(0, 114, ConstBytes(data).subspan(114, 114), Last::kNo));
  EXPECT_EQ(endpoint.reads.finished(), 0U);
  event_of<rdmap::RequestFinished>(take_response(0, 228, ConstBytes(data).subspan(228)));
  EXPECT_TRUE(equal(local.part(300, 50), ConstBytes(data).first(50)));
  EXPECT_TRUE(equal(local.part(10, 200), ConstBytes(data).subspan(50)));
}

TEST_F(ReceiverReadResponse, OfNothingFinishesAReadOfNothing) {
  issue_read(0);
  event_of<rdmap::RequestFinished>(
      take(segment(tagged(Opcode::kReadResponse, Stag{0xDEADBEEF}, TaggedOffset{~0ULL}))));
}

TEST_F(ReceiverReadResponse, MayEndWithAnEmptySegment) {
  issue_read(10);
  event_of<Placed>(take_response(0, 0, pattern(10), Last::kNo));
  event_of<rdmap::RequestFinished>(take_response(0, 10, {}));
}

TEST_F(ReceiverReadResponse, FinishesReadsInTheirOrder) {
  for (std::uint32_t i = 0; i < 4; ++i) issue_read(10 + i);
  for (std::uint32_t i = 0; i < 4; ++i) {
    event_of<rdmap::RequestFinished>(take_response(i, 0, pattern(10 + i, i)));
    EXPECT_TRUE(equal(local.part(0, 10 + i), pattern(10 + i, i)));
  }
  expect_fault(take_response(4, 0, pattern(1)), kUnexpectedOpcode);
}

TEST_F(ReceiverReadResponse, ThatNobodyAskedForIsRefused) {
  expect_fault(take_response(0, 0, pattern(10)), kUnexpectedOpcode);
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverReadResponse, OfALaterReadIsRefused) {
  issue_read(10);
  issue_read(10);
  expect_fault(take_response(1, 0, pattern(10)), {Layer::kDdp, 1, 0x00});
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverReadResponse, ToARegisteredStagIsRefusedAllTheSame) {
  issue_read(10);
  const Ulpdu ulpdu =
      segment(tagged(Opcode::kReadResponse, exposed.stag, exposed.base), pattern(4));
  expect_fault(take(ulpdu), {Layer::kDdp, 1, 0x00});
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverReadResponse, LongerThanAskedForIsRefused) {  // a hole that siw had
  issue_read(10);
  expect_fault(take_response(0, 0, pattern(11)), {Layer::kDdp, 1, 0x01});
  EXPECT_TRUE(untouched());
  EXPECT_EQ(endpoint.reads.finished(), 0U);
}

TEST_F(ReceiverReadResponse, ThatGrowsBeyondItsReadIsRefused) {
  issue_read(10);
  event_of<Placed>(take_response(0, 0, pattern(10), Last::kNo));
  expect_fault(take_response(0, 10, pattern(1)), {Layer::kDdp, 1, 0x01});
  EXPECT_TRUE(all_zero(local.part(10, kSize - 10)));
}

TEST_F(ReceiverReadResponse, WithAGapOrAnOverlapIsRefused) {
  for (const std::uint64_t to : {0ULL, 4ULL, 6ULL, ~0ULL}) {
    Endpoint other;
    Region& sink = other.enable(64, ddp::Rights::kLocalWrite);
    other.post(request_of(rdmap::Operation::kRead), {sink.sge(0, 20)});
    other.transmit(1500);
    const Stag stag = other.reads.sink_stag(0);
    const auto response = [&](std::uint64_t at, Last last) {
      return segment(tagged(Opcode::kReadResponse, stag, TaggedOffset{at}, last), pattern(5));
    };
    event_of<Placed>(other.receive(response(0, Last::kNo)));
    expect_fault(other.receive(response(to, Last::kYes)), {Layer::kDdp, 1, 0x01});
    EXPECT_TRUE(all_zero(sink.part(5, 59)));
  }
}

TEST_F(ReceiverReadResponse, ShorterThanAskedForIsRefused) {
  issue_read(10);
  expect_fault(take_response(0, 0, pattern(9)), {Layer::kRdmap, 2, 0xFF});
  EXPECT_EQ(endpoint.reads.finished(), 0U) << "the Read must not complete";
}

TEST_F(ReceiverReadResponse, IntoMemoryThatIsNoLongerOursBlamesOurselves) {
  issue_read(10);
  endpoint.stags.disable(local.stag);
  const Outcome outcome = take_response(0, 0, pattern(10));
  expect_fault(outcome, {Layer::kRdmap, 0, 0x00});
  EXPECT_EQ(outcome.error().local_memory, ddp::Error::kInvalidStag);
  EXPECT_TRUE(outcome.error().in_sink);
  EXPECT_TRUE(untouched());
}

}  // namespace
}  // namespace iwarp::test
