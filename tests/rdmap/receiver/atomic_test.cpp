#include <cstring>

#include "support/rdmap_fixture.hpp"

/// Atomic Requests that a peer sends, and its Responses to ours. RFC 7306 §5.2, §8.2.
namespace iwarp::test {
namespace {

using rdmap::AtomicRequest;
using rdmap::AtomicResponse;
using rdmap::Operation;

constexpr Cause kStreamCatastrophic{Layer::kRdmap, 2, 0x07};
constexpr Cause kUnspecified{Layer::kRdmap, 2, 0xFF};

template <typename Message>
Ulpdu octets_of(const Message& message) {
  Ulpdu bytes(Message::kSize);
  message.encode(bytes.data());
  return bytes;
}

class ReceiverAtomic : public ReceiverTest {
 protected:
  ReceiverAtomic()
      : counter(endpoint.enable(64, ddp::Rights::kRemoteAtomic | ddp::Rights::kLocalWrite)) {}

  [[nodiscard]] AtomicRequest add(std::uint64_t data, std::uint64_t at = 0) const {
    return {0, 0x77, counter.stag, counter.to(at), {data, 0, 0, UINT64_MAX}};
  }
  Outcome ask(const AtomicRequest& request, std::uint32_t msn = 1) {
    return take(segment(untagged(Opcode::kAtomicRequest, msn), octets_of(request)));
  }
  [[nodiscard]] std::uint64_t word(const Region& region, std::size_t at = 0) const {
    std::uint64_t value = 0;
    std::memcpy(&value, region.part(at, 8).data(), 8);
    return value;
  }
  /// Lets a FetchAdd of ours leave; returns its identifier.
  std::uint32_t issue_atomic() {
    endpoint.post(request_of(Operation::kFetchAdd), {local.sge(0, 8)});
    const auto sent = endpoint.transmit(1500);
    EXPECT_EQ(sent.size(), 1U);
    return AtomicRequest::parse(ConstBytes(sent.at(0)).subspan(18)).value().id;
  }
  Outcome answer(const AtomicResponse& response, std::uint32_t msn = 1) {
    return take(segment(untagged(Opcode::kAtomicResponse, msn), octets_of(response)));
  }

  Region& counter;
};

TEST_F(ReceiverAtomic, IsPerformedOnDeliveryAndAnswered) {
  event_of<rdmap::AtomicRequestDelivered>(ask(add(40)));
  event_of<rdmap::AtomicRequestDelivered>(ask(add(2), 2));
  EXPECT_EQ(word(counter), 42U);
  EXPECT_EQ(endpoint.responses.at(0).atomic, (AtomicResponse{0x77, 0}));
  EXPECT_EQ(endpoint.responses.at(1).atomic, (AtomicResponse{0x77, 40}));
}

TEST_F(ReceiverAtomic, IsPerformedOnceThoughItComesInPieces) {
  const Ulpdu whole = octets_of(add(7));
  for (std::uint32_t cut = 1; cut < whole.size(); ++cut) {
    Endpoint fresh;
    Region& memory = fresh.enable(64, ddp::Rights::kRemoteAtomic | ddp::Rights::kLocalWrite);
    AtomicRequest request = add(7);
    request.stag = memory.stag;
    const Ulpdu octets = octets_of(request);
    EXPECT_TRUE(fresh.receive(segment(untagged(Opcode::kAtomicRequest, 1, 0, ddp::Last::kNo),
                                      ConstBytes(octets).first(cut))));
    EXPECT_EQ(word(memory), 0U) << "before delivery";
    EXPECT_TRUE(fresh.receive(
        segment(untagged(Opcode::kAtomicRequest, 1, cut), ConstBytes(octets).subspan(cut))));
    EXPECT_EQ(word(memory), 7U);
  }
}

TEST_F(ReceiverAtomic, ComparesAndSwaps) {
  AtomicRequest request = add(9);
  request.opcode = 2;
  request.operands = {9, UINT64_MAX, 0, UINT64_MAX};
  event_of<rdmap::AtomicRequestDelivered>(ask(request));
  event_of<rdmap::AtomicRequestDelivered>(ask(request, 2));  // 9 is not 0: nothing changes
  EXPECT_EQ(word(counter), 9U);
  EXPECT_EQ(endpoint.responses.at(1).atomic.original, 9U);
}

TEST_F(ReceiverAtomic, MisalignedChangesNothing) {
  for (std::uint64_t at = 1; at < 8; ++at) {
    Endpoint fresh;
    Region& memory = fresh.enable(64, ddp::Rights::kRemoteAtomic | ddp::Rights::kLocalWrite);
    AtomicRequest request = add(1);
    request.stag = memory.stag;
    request.to = memory.to(at);
    const auto outcome =
        fresh.receive(segment(untagged(Opcode::kAtomicRequest, 1), octets_of(request)));
    expect_fault(outcome, kStreamCatastrophic);
    EXPECT_TRUE(all_zero(memory.memory.bytes()));
    // RFC 7306 §8.1: the DDP header goes back, no RDMA header.
    EXPECT_EQ(outcome.error().terminate.ddp_header_size, ddp::kUntaggedHeaderSize);
    EXPECT_FALSE(outcome.error().terminate.read_request);
  }
}

TEST_F(ReceiverAtomic, NeedsTheRightToIt) {
  AtomicRequest request = add(1);
  request.stag = exposed.stag;  // may be written and read
  request.to = exposed.to(0);
  expect_fault(ask(request), {Layer::kRdmap, 1, 0x02});
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverAtomic, StaysInsideTheBuffer) {
  for (const std::uint64_t at : {std::uint64_t{57}, std::uint64_t{64}, std::uint64_t{72}}) {
    Endpoint fresh;
    Region& memory = fresh.enable(64, ddp::Rights::kRemoteAtomic | ddp::Rights::kLocalWrite);
    AtomicRequest request = add(1);
    request.stag = memory.stag;
    request.to = memory.to(at);
    expect_fault(fresh.receive(segment(untagged(Opcode::kAtomicRequest, 1), octets_of(request))),
                 {Layer::kRdmap, 1, 0x01});
    EXPECT_TRUE(fresh.canaries_intact());
  }
}

TEST_F(ReceiverAtomic, OfAnUnknownStagIsRefused) {
  AtomicRequest request = add(1);
  request.stag = Stag{counter.stag.value() ^ 1U};
  expect_fault(ask(request), {Layer::kRdmap, 1, 0x00});
}

TEST_F(ReceiverAtomic, RefusesOperationsThatFigure5DoesNotKnow) {
  for (const unsigned opcode : {1U, 3U, 4U, 15U}) {
    Endpoint fresh;
    AtomicRequest request = add(1);
    request.opcode = static_cast<std::uint8_t>(opcode);
    expect_fault(fresh.receive(segment(untagged(Opcode::kAtomicRequest, 1), octets_of(request))),
                 kUnexpectedOpcode);
  }
}

TEST_F(ReceiverAtomic, IsNeitherShorterNorLongerThanItsHeader) {
  const Ulpdu octets = octets_of(add(1));
  expect_fault(take(segment(untagged(Opcode::kAtomicRequest, 1),
                            ConstBytes(octets).first(octets.size() - 1))),
               kUnspecified);
  Endpoint fresh;
  Ulpdu longer = octets;
  longer.push_back({});
  expect_fault(fresh.receive(segment(untagged(Opcode::kAtomicRequest, 1), longer)),
               {Layer::kDdp, 2, 0x05});
}

TEST_F(ReceiverAtomic, MayComeIrdTimesBesidesIrdReads) {  // RFC 7306 §5.2.2 rule 4
  std::uint32_t msn = 1;
  const Ulpdu read = encoded(rdmap::ReadRequest{});
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(ask(add(1), msn++));
    EXPECT_TRUE(take(segment(untagged(Opcode::kReadRequest, msn++), read)));
  }
  expect_fault(ask(add(1), msn), kNoBuffer);
  EXPECT_EQ(word(counter), 4U);
}

TEST_F(ReceiverAtomic, ResponsePutsTheOriginalValueInHostOrder) {
  const std::uint32_t id = issue_atomic();
  event_of<rdmap::RequestFinished>(answer({id, 0x0102030405060708}));
  EXPECT_EQ(word(local), 0x0102030405060708U);
  EXPECT_EQ(endpoint.reads.finished(), 1U);
}

TEST_F(ReceiverAtomic, ResponseNobodyWaitsForIsRefused) { expect_fault(answer({0, 0}), kNoBuffer); }

TEST_F(ReceiverAtomic, ResponseBeforeThatOfAnEarlierReadIsRefused) {  // RFC 7306 §7
  issue_read(8);
  const std::uint32_t id = issue_atomic();
  expect_fault(answer({id, 1}), kNoBuffer);
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverAtomic, ResponseToAnotherRequestIsRefused) {
  const std::uint32_t id = issue_atomic();
  expect_fault(answer({id + 1, 1}), kUnspecified);
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverAtomic, ResponseOutOfOrderIsRefused) {
  const std::uint32_t id = issue_atomic();
  expect_fault(answer({id, 1}, 2), {Layer::kDdp, 2, 0x03});
}

TEST_F(ReceiverAtomic, IsNotAnsweredByAReadResponse) {
  const std::uint32_t id = issue_atomic();
  expect_fault(take(segment(tagged(Opcode::kReadResponse, Stag{id}, TaggedOffset{0}), pattern(8))),
               kUnexpectedOpcode);
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverAtomic, TellsWhenTheMemoryForTheValueIsGone) {
  const std::uint32_t id = issue_atomic();
  endpoint.stags.disable(local.stag);
  const auto outcome = answer({id, 1});
  ASSERT_FALSE(outcome);
  EXPECT_TRUE(outcome.error().in_sink);
  EXPECT_EQ(outcome.error().local_memory, ddp::Error::kInvalidStag);
}

}  // namespace
}  // namespace iwarp::test
