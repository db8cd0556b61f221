#include "support/random.hpp"
#include "support/transmitter_fixture.hpp"

namespace iwarp::test {
namespace {

using ddp::Last;
using rdmap::Cause;
using rdmap::Layer;
using rdmap::Rtr;

EndpointOptions with_rtr(Rtr rtr, std::uint32_t ord = 4) {
  EndpointOptions options;
  options.rtr = rtr;
  options.ord = ord;
  return options;
}

rdmap::Terminate some_terminate(std::uint8_t code = 0x02) {
  rdmap::Terminate message;
  message.cause = {Layer::kDdp, 2, code};
  message.segment_length = 18;
  message.ddp_header_size = ddp::kUntaggedHeaderSize;
  message.ddp_header[0] = std::byte{0x41};
  return message;
}

class TransmitterTerminate : public TransmitterTest {};

TEST_F(TransmitterTerminate, LeavesOnItsQueueWithMsnOne) {  // RFC 5040 §5.4
  EXPECT_FALSE(endpoint.transmitter.terminating());
  endpoint.transmitter.terminate(some_terminate());
  EXPECT_TRUE(endpoint.transmitter.terminating());
  const auto sent = send(128);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].untagged, untagged(Opcode::kTerminate, 1));
  EXPECT_EQ(sent[0].payload, encoded(some_terminate()));
}

TEST_F(TransmitterTerminate, IsTheLastMessage) {
  post(Operation::kSend, 1);
  ask(1);
  endpoint.transmitter.terminate(some_terminate());
  EXPECT_EQ(letters(send()), "T");
  post(Operation::kSend, 1);
  ask(1);
  EXPECT_EQ(letters(send()), "");
}

TEST_F(TransmitterTerminate, GoesBeforeTheRestOfAMessage) {
  post(Operation::kSend, 300);
  EXPECT_EQ(letters(send(128, 1)), "s");
  endpoint.transmitter.terminate(some_terminate());
  EXPECT_EQ(letters(send(128)), "T");
}

TEST_F(TransmitterTerminate, GoesBeforeTheRestOfAResponse) {
  ask(300);
  EXPECT_EQ(letters(send(128, 1)), "a");
  endpoint.transmitter.terminate(some_terminate());
  EXPECT_EQ(letters(send(128)), "T");
}

TEST_F(TransmitterTerminate, GoesBeforeAnRtr) {
  Endpoint other(with_rtr(Rtr::kWrite));
  other.transmitter.terminate(some_terminate());
  const auto sent = other.transmit(1500);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(take_apart(sent[0]).opcode, Opcode::kTerminate);
}

TEST_F(TransmitterTerminate, IsTheFirstOneAskedFor) {  // RFC 5040 §7.1 rule 4
  endpoint.transmitter.terminate(some_terminate(0x02));
  endpoint.transmitter.terminate(some_terminate(0x05));
  EXPECT_EQ(send().at(0).payload, encoded(some_terminate(0x02)));
  endpoint.transmitter.terminate(some_terminate(0x05));
  EXPECT_EQ(letters(send()), "");
}

TEST_F(TransmitterTerminate, OfTheGreatestSizeFitsTheLeastMulpdu) {
  rdmap::Terminate message = some_terminate();
  message.read_request = rdmap::ReadRequest{};
  endpoint.transmitter.terminate(message);
  const auto sent = send(128);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].payload.size(), rdmap::Terminate::kMaxSize);
}

TEST_F(TransmitterTerminate, LeavesAgainIfItsPlanningWasTakenBack) {
  const auto before = endpoint.transmitter.cursor();
  endpoint.transmitter.terminate(some_terminate());
  ASSERT_TRUE(endpoint.transmitter.next(128));
  EXPECT_EQ(endpoint.transmitter.next(128), std::nullopt);
  endpoint.transmitter.rewind(before);
  const auto sent = send(128);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].untagged.msn, Msn{1});
}

TEST(TransmitterRtr, IsAnEmptyWriteBeforeAnythingElse) {  // RFC 6581 §9.2
  Endpoint endpoint(with_rtr(Rtr::kWrite));
  endpoint.post(request_of(Operation::kSend));
  const auto sent = endpoint.transmit(1500);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(take_apart(sent[0]).tagged.last, Last::kYes);
  EXPECT_EQ(take_apart(sent[0]).opcode, Opcode::kWrite);
  EXPECT_TRUE(take_apart(sent[0]).payload.empty());
  EXPECT_EQ(take_apart(sent[1]).untagged, untagged(Opcode::kSend, 1));
}

TEST(TransmitterRtr, SendTakesMsnOne) {
  Endpoint endpoint(with_rtr(Rtr::kSend));
  endpoint.post(request_of(Operation::kSend));
  const auto sent = endpoint.transmit(1500);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(take_apart(sent[0]).untagged, untagged(Opcode::kSend, 1));
  EXPECT_EQ(take_apart(sent[1]).untagged, untagged(Opcode::kSend, 2));
  EXPECT_EQ(endpoint.retired(), 1U) << "nobody posted the RTR";
}

TEST(TransmitterRtr, ReadCountsAgainstOrdUntilItsResponseComes) {
  Endpoint endpoint(with_rtr(Rtr::kRead, 1));
  endpoint.post(request_of(Operation::kRead));
  const auto sent = endpoint.transmit(1500);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(take_apart(sent[0]).untagged, untagged(Opcode::kReadRequest, 1));
  EXPECT_EQ(rdmap::ReadRequest::parse(take_apart(sent[0]).payload)->size, 0U);
  const Ulpdu response = segment(tagged(Opcode::kReadResponse, Stag{0}, TaggedOffset{0}));
  ASSERT_TRUE(endpoint.receive(response));
  const auto later = endpoint.transmit(1500);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(take_apart(later[0]).untagged, untagged(Opcode::kReadRequest, 2));
  EXPECT_EQ(endpoint.retired(), 0U) << "the RTR completes nothing";
  ASSERT_TRUE(endpoint.receive(response));
  endpoint.retire();
  EXPECT_EQ(endpoint.retired(), 1U);
}

TEST(TransmitterRtr, ReadWorksWhereNoReadsAreAgreed) {
  Endpoint endpoint(with_rtr(Rtr::kRead, 0));
  EXPECT_EQ(endpoint.transmit(1500).size(), 1U);
  EXPECT_TRUE(endpoint.receive(segment(tagged(Opcode::kReadResponse, Stag{0}, TaggedOffset{0}))));
}

TEST(TransmitterRtr, LeavesOnce) {
  for (const Rtr rtr : {Rtr::kSend, Rtr::kWrite, Rtr::kRead}) {
    Endpoint endpoint(with_rtr(rtr));
    EXPECT_EQ(endpoint.transmit(1500).size(), 1U);
    EXPECT_EQ(endpoint.transmit(1500).size(), 0U);
  }
}

TEST(TransmitterRtr, LeavesAgainIfItsPlanningWasTakenBack) {
  for (const Rtr rtr : {Rtr::kSend, Rtr::kWrite, Rtr::kRead}) {
    Endpoint endpoint(with_rtr(rtr));
    const auto before = endpoint.transmitter.cursor();
    const Ulpdu first = *endpoint.assemble(*endpoint.transmitter.next(1500));
    endpoint.transmitter.rewind(before);
    const Ulpdu again = *endpoint.assemble(*endpoint.transmitter.next(1500));
    EXPECT_EQ(first, again);
  }
}

class TransmitterRewind : public TransmitterTest {
 protected:
  void post_something(Random& random) {
    constexpr Operation kOperations[] = {Operation::kSend, Operation::kSendInvalidate,
                                         Operation::kWrite, Operation::kRead};
    if (!endpoint.requests.full()) post(kOperations[random.below(4)], random.below(700));
    if (random.one_in(2) && endpoint.responses.admits(rdmap::Owed::kReadResponse))
      ask(random.below(700));
  }
};

// Plans some, takes it back, and plans the same again, to the octet.
TEST_F(TransmitterRewind, GivesTheSameSegmentsAgain) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    post_something(random);
    const std::size_t mulpdu = random.between(128, 500);
    const auto before = endpoint.transmitter.cursor();
    std::vector<Ulpdu> planned;
    for (std::uint32_t n = random.below(8); n > 0; --n) {
      const auto segment = endpoint.transmitter.next(mulpdu);
      if (!segment) break;
      planned.push_back(*endpoint.assemble(*segment));
    }
    endpoint.transmitter.rewind(before);
    const std::size_t sent = planned.empty() ? 0 : random.below(8) % (planned.size() + 1);
    planned.resize(sent);
    ASSERT_EQ(endpoint.transmit(mulpdu, sent), planned) << "round " << round;
    if (endpoint.reads.due() != nullptr && random.one_in(3)) endpoint.reads.finish();
  }
}

TEST_F(TransmitterRewind, GivesTheSameOctetsInOtherSegments) {
  post(Operation::kWrite, 1000);
  const auto before = endpoint.transmitter.cursor();
  ASSERT_TRUE(endpoint.transmitter.next(1500));
  endpoint.transmitter.rewind(before);
  Ulpdu all;
  for (const Sent& s : send(128)) all.insert(all.end(), s.payload.begin(), s.payload.end());
  EXPECT_EQ(all, octets(0, 1000));
}

}  // namespace
}  // namespace iwarp::test
