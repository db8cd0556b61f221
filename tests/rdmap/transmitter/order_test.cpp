#include "support/random.hpp"
#include "support/transmitter_fixture.hpp"

namespace iwarp::test {
namespace {

using rdmap::Fence;

class TransmitterOrder : public TransmitterTest {
 protected:
  void post_fenced(Operation operation) {
    rdmap::Request request = request_of(operation, kRemote, TaggedOffset{0});
    request.fence = Fence::kYes;
    endpoint.post(request, {memory.sge(0, 1)});
  }
  std::string flow(std::size_t mulpdu = 1500, std::size_t most = SIZE_MAX) {
    return letters(send(mulpdu, most));
  }
};

TEST_F(TransmitterOrder, HasNothingToSendAtFirst) {
  EXPECT_EQ(endpoint.transmitter.next(1500), std::nullopt);
}

TEST_F(TransmitterOrder, IsThatOfPosting) {  // RFC 5040 §5.5 rule 13
  post(Operation::kSend, 1);
  post(Operation::kWrite, 2);
  post(Operation::kRead, 3);
  post(Operation::kWrite, 4);
  post(Operation::kSendSolicited, 5);
  EXPECT_EQ(flow(), "SWRWS");
  EXPECT_EQ(endpoint.transmitter.next(1500), std::nullopt);
}

TEST_F(TransmitterOrder, KeepsMessagesWhole) {
  ask(300);
  post(Operation::kSend, 300);
  post(Operation::kWrite, 300);
  EXPECT_EQ(flow(128), "ssSaaAwwW");
}

TEST_F(TransmitterOrder, KeepsAMessageWholeThatIsInterruptedByACallersPause) {
  post(Operation::kWrite, 300);
  EXPECT_EQ(flow(128, 1), "w");
  ask(300);
  post(Operation::kSend, 1);
  EXPECT_EQ(flow(128, 2), "wW");
  EXPECT_EQ(flow(128, 1), "a");
  post(Operation::kSend, 1);
  EXPECT_EQ(flow(128), "aASS");
}

TEST_F(TransmitterOrder, AlternatesRequestsAndResponses) {
  for (int i = 0; i < 4; ++i) ask(1);
  for (int i = 0; i < 6; ++i) post(Operation::kSend, 1);
  EXPECT_EQ(flow(), "SASASASASS");
}

TEST_F(TransmitterOrder, LetsResponsesPassInABunchWhenThereAreNoRequests) {
  for (int i = 0; i < 4; ++i) ask(1);
  EXPECT_EQ(flow(), "AAAA");
  post(Operation::kSend, 1);
  ask(1);
  EXPECT_EQ(flow(), "SA");
}

TEST_F(TransmitterOrder, AnswersReadsInTheOrderTheyCame) {  // RFC 5040 §5.2.2
  for (std::uint32_t i = 1; i <= 4; ++i) ask(i, 10 * i);
  const auto sent = send();
  ASSERT_EQ(sent.size(), 4U);
  for (std::uint32_t i = 1; i <= 4; ++i) EXPECT_EQ(sent[i - 1].payload, octets(10 * i, i));
}

TEST_F(TransmitterOrder, HoldsBackAReadBeyondOrdAndWhatIsBehindIt) {  // RFC 5040 §6.1
  for (int i = 0; i < 5; ++i) post(Operation::kRead, 1);
  post(Operation::kSend, 1);
  EXPECT_EQ(flow(), "RRRR");
  EXPECT_EQ(flow(), "");
  ask(1);
  EXPECT_EQ(flow(), "A") << "responses never wait for our own Reads";
  endpoint.reads.finish();
  EXPECT_EQ(flow(), "RS");
}

TEST_F(TransmitterOrder, NeverHasMoreReadsOutstandingThanOrd) {
  for (int i = 0; i < 30; ++i) post(Operation::kRead, 1);
  std::uint32_t issued = 0;
  for (std::uint32_t finished = 0; finished < 30; ++finished) {
    issued += static_cast<std::uint32_t>(send().size());
    EXPECT_LE(issued - finished, 4U);
    endpoint.reads.finish();
  }
  EXPECT_EQ(issued, 30U);
}

TEST_F(TransmitterOrder, MakesAFenceWaitForEveryReadBeforeIt) {
  post(Operation::kRead, 1);
  post(Operation::kRead, 1);
  post(Operation::kSend, 1);
  post_fenced(Operation::kSend);
  post(Operation::kSend, 1);
  EXPECT_EQ(flow(), "RRS");
  endpoint.reads.finish();
  EXPECT_EQ(flow(), "");
  endpoint.reads.finish();
  EXPECT_EQ(flow(), "SS");
}

TEST_F(TransmitterOrder, LetsAFencePassIfNoReadIsOutstanding) {
  post_fenced(Operation::kWrite);
  post_fenced(Operation::kRead);
  EXPECT_EQ(flow(), "WR");
}

TEST_F(TransmitterOrder, GivesResponsesTheirTurnWhileAFenceWaits) {
  post(Operation::kRead, 1);
  post_fenced(Operation::kSend);
  EXPECT_EQ(flow(), "R");
  ask(1);
  ask(1);
  EXPECT_EQ(flow(), "AA");
  endpoint.reads.finish();
  EXPECT_EQ(flow(), "S");
}

TEST_F(TransmitterOrder, GivesPlacesBackInOrderOnceTheReadsAreDone) {
  post(Operation::kSend, 1);
  post(Operation::kRead, 1);
  post(Operation::kSend, 1);
  EXPECT_EQ(flow(), "SRS");
  EXPECT_EQ(endpoint.retired(), 1U) << "the Read is in the way of the Send behind it";
  endpoint.reads.finish();
  endpoint.retire();
  EXPECT_EQ(endpoint.retired(), 3U);
}

// Whatever is posted and asked for, at any moment: each side's messages leave in their order,
// whole.
TEST_F(TransmitterOrder, HoldsForRandomMixtures) {
  Random random(1);
  std::uint32_t posted = 0;
  std::uint32_t asked = 0;
  std::string all;
  std::vector<std::size_t> sends;
  while (posted < 300 || asked < 300) {
    if (random.one_in(3) && !endpoint.requests.full()) {
      post(Operation::kSend, ++posted % 997);
    }
    if (random.one_in(3) && endpoint.responses.admits(rdmap::Owed::kReadResponse))
      ask(++asked % 991);
    for (const Sent& s : send(random.between(128, 400), random.below(4))) {
      all += letters({s});
      if (s.opcode == Opcode::kSend && s.last == ddp::Last::kYes) {
        sends.push_back(s.untagged.mo.value() + s.payload.size());
      }
    }
  }
  all += letters(send());
  EXPECT_EQ(all.find("sa"), std::string::npos);
  EXPECT_EQ(all.find("sA"), std::string::npos);
  EXPECT_EQ(all.find("as"), std::string::npos);
  EXPECT_EQ(all.find("aS"), std::string::npos);
  for (std::size_t i = 0; i < sends.size(); ++i) EXPECT_EQ(sends[i], (i + 1) % 997);
}

}  // namespace
}  // namespace iwarp::test
