#include "support/random.hpp"
#include "support/transmitter_fixture.hpp"

namespace iwarp::test {
namespace {

using ddp::Last;

class TransmitterSegment : public TransmitterTest {
 protected:
  // Checks that `sent` is one whole message of `length` octets from memory offset `at`, each octet
  // exactly once, in order, L on the last segment only.
  void expect_message(const std::vector<Sent>& sent, std::uint32_t at, std::uint32_t length) {
    Ulpdu all;
    ASSERT_FALSE(sent.empty());
    for (const Sent& s : sent) {
      const bool tagged = s.untagged == ddp::UntaggedHeader{};
      const std::uint64_t offset =
          tagged ? s.tagged.to.value() - first_to(sent) : s.untagged.mo.value();
      EXPECT_EQ(offset, all.size());
      EXPECT_EQ(s.last == Last::kYes, &s == &sent.back());
      EXPECT_EQ(s.opcode, sent.front().opcode);
      EXPECT_EQ(s.tagged.stag, sent.front().tagged.stag);
      EXPECT_EQ(s.untagged.qn, sent.front().untagged.qn);
      EXPECT_EQ(s.untagged.msn, sent.front().untagged.msn);
      EXPECT_EQ(s.untagged.rsvd_ulp_word, sent.front().untagged.rsvd_ulp_word);
      EXPECT_TRUE(!s.payload.empty() || length == 0);
      all.insert(all.end(), s.payload.begin(), s.payload.end());
    }
    EXPECT_EQ(all, octets(at, length));
  }
  static std::uint64_t first_to(const std::vector<Sent>& sent) {
    return sent.front().tagged.to.value();
  }
};

TEST_F(TransmitterSegment, CutsASendAsTheExampleOfRfc5041Section52) {
  post(Operation::kSend, 2048);
  const auto sent = send(1500);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].untagged, untagged(Opcode::kSend, 1, 0, Last::kNo));
  EXPECT_EQ(sent[1].untagged, untagged(Opcode::kSend, 1, 1482, Last::kYes));
  EXPECT_EQ(sent[0].payload.size(), 1482U);
  EXPECT_EQ(sent[1].payload.size(), 566U);
}

TEST_F(TransmitterSegment, CutsAWriteAsTheExampleOfRfc5041Section52) {
  post(Operation::kWrite, 2048);  // the fixture's Writes start at Tagged Offset 16384
  const auto sent = send(1500);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].tagged, tagged(Opcode::kWrite, kRemote, TaggedOffset{16384}, Last::kNo));
  EXPECT_EQ(sent[1].tagged, tagged(Opcode::kWrite, kRemote, TaggedOffset{17870}, Last::kYes));
  EXPECT_EQ(sent[1].payload.size(), 562U);
}

TEST_F(TransmitterSegment, SendsAnEmptyMessageAsOneSegment) {  // RFC 5041 §5.2
  for (const Operation operation : {Operation::kSend, Operation::kWrite}) {
    post(operation, 0);
    const auto sent = send(128);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].last, Last::kYes);
    EXPECT_TRUE(sent[0].payload.empty());
  }
  endpoint.responses.append({Stag{1}, TaggedOffset{2}, 0, Stag{0xDEADBEEF}, TaggedOffset{~0ULL}});
  const auto sent = send(128);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].tagged, tagged(Opcode::kReadResponse, Stag{1}, TaggedOffset{2}));
}

TEST_F(TransmitterSegment, AddsNoEmptySegmentToAFullOne) {
  post(Operation::kSend, 2 * 110);
  EXPECT_EQ(letters(send(128)), "sS");
  post(Operation::kWrite, 2 * 114);
  EXPECT_EQ(letters(send(128)), "wW");
}

TEST_F(TransmitterSegment, CoversEveryLengthExactlyOnce) {
  Random random(1);
  for (std::uint32_t length = 0; length < 500; ++length) {
    for (const std::size_t mulpdu : {128U, 129U, 200U, 499U}) {
      const std::uint32_t at = random.below(1000);
      post(Operation::kSend, length, at);
      expect_message(send(mulpdu), at, length);
      post(Operation::kWrite, length, at);
      expect_message(send(mulpdu), at, length);
      ask(length, at);
      expect_message(send(mulpdu), at, length);
    }
  }
}

TEST_F(TransmitterSegment, CoversAMessageOnceThoughTheMulpduChangesMidway) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t length = random.below(3000);
    const std::uint32_t at = random.below(1000);
    post(random.one_in(2) ? Operation::kSend : Operation::kWrite, length, at);
    std::vector<Sent> sent;
    while (sent.empty() || sent.back().last == Last::kNo) {
      for (Sent& s : send(random.between(128, 900), random.below(3))) sent.push_back(std::move(s));
    }
    expect_message(sent, at, length);
  }
}

TEST_F(TransmitterSegment, GathersAListWithEmptyElements) {
  endpoint.post(request_of(Operation::kSend),
                {memory.sge(0, 0), memory.sge(100, 150), memory.sge(0, 0), memory.sge(250, 150)});
  expect_message(send(128), 100, 300);
}

TEST_F(TransmitterSegment, TakesInlineDataFromTheQueue) {
  const Ulpdu data = pattern(64, 9);
  endpoint.post_inline(request_of(Operation::kSend), data);
  endpoint.post_inline(request_of(Operation::kWrite, kRemote, TaggedOffset{1}), data);
  const auto sent = send();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].payload, data);
  EXPECT_EQ(sent[1].payload, data);
}

TEST_F(TransmitterSegment, CarriesTheStagToInvalidateInEverySegment) {  // RFC 5040 §4.1
  for (const Operation operation :
       {Operation::kSend, Operation::kSendInvalidate, Operation::kSendSolicited,
        Operation::kSendSolicitedInvalidate}) {
    rdmap::Request request = request_of(operation);
    request.invalidate = Stag{0x11223344};
    endpoint.post(request, {memory.sge(0, 300)});
    const bool valid =
        operation == Operation::kSendInvalidate || operation == Operation::kSendSolicitedInvalidate;
    const auto sent = send(128);
    ASSERT_EQ(sent.size(), 3U);
    for (const Sent& s : sent) {
      EXPECT_EQ(s.untagged.rsvd_ulp_word, valid ? 0x11223344U : 0U);
    }
  }
}

TEST_F(TransmitterSegment, NamesEachOperationByItsOpcode) {
  const std::pair<Operation, Opcode> rows[] = {
      {Operation::kSend, Opcode::kSend},
      {Operation::kSendInvalidate, Opcode::kSendInvalidate},
      {Operation::kSendSolicited, Opcode::kSendSolicited},
      {Operation::kSendSolicitedInvalidate, Opcode::kSendSolicitedInvalidate},
      {Operation::kWrite, Opcode::kWrite},
      {Operation::kRead, Opcode::kReadRequest}};
  for (const auto& [operation, opcode] : rows) {
    post(operation, 1);
    EXPECT_EQ(send().at(0).opcode, opcode);
  }
}

TEST_F(TransmitterSegment, CountsMessagesPerQueue) {  // RFC 5041 §4.3
  for (std::uint32_t i = 1; i <= 4; ++i) {
    post(Operation::kSend, 300);
    post(Operation::kWrite, 1);
    post(Operation::kRead, 1);
    for (const Sent& s : send(128)) {
      if (s.opcode == Opcode::kWrite) continue;
      EXPECT_EQ(s.untagged.msn, Msn{i});
      EXPECT_EQ(s.untagged.qn, rdmap::traits(s.opcode).qn);
    }
  }
}

TEST_F(TransmitterSegment, WrapsFromTheGreatestMsnToZero) {
  auto cursor = endpoint.transmitter.cursor();
  cursor.msn.fill(Msn{0xFFFFFFFF});
  endpoint.transmitter.rewind(cursor);
  for (int i = 0; i < 2; ++i) {
    post(Operation::kSend, 300);
    post(Operation::kRead, 1);
    for (const Sent& s : send(128)) EXPECT_EQ(s.untagged.msn, Msn{i == 0 ? 0xFFFFFFFFU : 0U});
  }
}

TEST_F(TransmitterSegment, AsksForAReadByOneSegment) {  // RFC 5040 §4.4
  post(Operation::kRead, 3000);
  const auto sent = send(128);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].untagged, untagged(Opcode::kReadRequest, 1));
  const auto request = rdmap::ReadRequest::parse(sent[0].payload);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->size, 3000U);
  EXPECT_EQ(request->source_stag, kRemote);
  EXPECT_EQ(request->source_to, TaggedOffset{16384});
  EXPECT_EQ(request->sink_stag, endpoint.reads.sink_stag(0));
  EXPECT_NE(request->sink_stag, memory.stag) << "no local key on the wire";
  EXPECT_EQ(request->sink_to, TaggedOffset{0});
}

TEST_F(TransmitterSegment, CopiesTheSinkOfAReadIntoItsResponse) {  // RFC 5040 §4.4
  endpoint.responses.append(
      {Stag{0xFEDC}, TaggedOffset{~0ULL - 99}, 300, memory.stag, memory.to(0)});
  const auto sent = send(128);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].tagged.stag, Stag{0xFEDC});
  EXPECT_EQ(sent[0].tagged.to, TaggedOffset{~0ULL - 99});
  EXPECT_EQ(sent[1].tagged.to, TaggedOffset{14}) << "wraps: the Data Sink sees to that";
}

// Whether one plans them one by one or says how many there are.
TEST_F(TransmitterSegment, OfAMessageAreAlikeButTheLast) {
  auto& transmitter = endpoint.transmitter;
  for (const std::uint32_t size : {109U, 110U, 111U, 219U, 220U, 221U, 1100U}) {
    SCOPED_TRACE(size);
    post(Operation::kSend, size);
    const auto before = transmitter.cursor();
    const auto first = transmitter.next(128);
    ASSERT_TRUE(first);
    const std::uint32_t alike = transmitter.alike(*first);
    EXPECT_EQ(alike, size <= 110 ? 0U : (size - 1) / 110 - 1);
    if (alike > 0) transmitter.repeat(*first, alike);
    if (first->last == ddp::Last::kNo) {
      const auto last = transmitter.next(128);
      ASSERT_TRUE(last);
      EXPECT_EQ(last->last, ddp::Last::kYes);
      EXPECT_EQ(last->offset, 110 * (alike + 1));
      EXPECT_EQ(transmitter.alike(*last), 0U);
    }
    const auto after = transmitter.cursor();
    transmitter.rewind(before);
    while (transmitter.cursor().request != after.request) ASSERT_TRUE(transmitter.next(128));
    EXPECT_EQ(transmitter.cursor().request_offset, 0U);
  }
}

TEST_F(TransmitterSegment, OfAMessageOfRdmapsOwnHasNoneAlike) {
  post(Operation::kRead, 5000);
  const auto request = endpoint.transmitter.next(128);
  ASSERT_TRUE(request);
  EXPECT_EQ(endpoint.transmitter.alike(*request), 0U);
}

TEST_F(TransmitterSegment, PointsAtWhatItCarries) {
  post(Operation::kSend, 300);
  const auto first = endpoint.transmitter.next(128);
  const auto second = endpoint.transmitter.next(128);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->source, rdmap::Source::kRequest);
  EXPECT_EQ(first->offset, 0U);
  EXPECT_EQ(second->offset, 110U);
  EXPECT_EQ(second->length, 110U);
  EXPECT_EQ(second->position, 0U);
  EXPECT_EQ(second->header_bytes().size(), ddp::kUntaggedHeaderSize);
}

}  // namespace
}  // namespace iwarp::test
