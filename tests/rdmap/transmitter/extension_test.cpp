#include "support/transmitter_fixture.hpp"

/// Atomic Operations and Immediate Data as they leave. RFC 7306 §5.2, §6.3.
namespace iwarp::test {
namespace {

using rdmap::AtomicRequest;
using rdmap::AtomicResponse;

class TransmitterExtension : public TransmitterTest {
 protected:
  void post_immediate(Operation operation, std::uint64_t immediate, std::uint32_t length = 0) {
    rdmap::Request request = request_of(operation, kRemote, TaggedOffset{16384});
    request.immediate = immediate;
    if (length == 0) return endpoint.post(request);
    endpoint.post(request, {memory.sge(0, length)});
  }
  void post_atomic(Operation operation, const rdmap::AtomicOperands& operands) {
    rdmap::Request request = request_of(operation, kRemote, TaggedOffset{16384});
    request.atomic = operands;
    endpoint.post(request, {memory.sge(0, 8)});
  }
};

TEST_F(TransmitterExtension, ImmediateDataIsEightOctetsOnQueueZero) {
  post_immediate(Operation::kImmediate, 0x0102030405060708);
  post_immediate(Operation::kImmediateSolicited, 1);
  const auto sent = send();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].opcode, Opcode::kImmediate);
  EXPECT_EQ(sent[0].untagged.qn, QueueNumber{0});
  EXPECT_EQ(sent[0].untagged.msn, Msn{1});
  EXPECT_EQ(sent[0].untagged.rsvd_ulp_word, 0U);
  EXPECT_EQ(sent[0].last, ddp::Last::kYes);
  ASSERT_EQ(sent[0].payload.size(), 8U);
  EXPECT_EQ(load_be<std::uint64_t>(sent[0].payload.data()), 0x0102030405060708U);
  EXPECT_EQ(sent[1].opcode, Opcode::kImmediateSolicited);
  EXPECT_EQ(sent[1].untagged.msn, Msn{2});
}

TEST_F(TransmitterExtension, WriteWithImmediateIsAWriteAndThenImmediateData) {
  post_immediate(Operation::kWriteImmediate, 7, 300);
  ask(50);  // a response gets its turn only behind both
  const auto sent = send(200);
  ASSERT_EQ(sent.size(), 4U);
  EXPECT_EQ(sent[0].opcode, Opcode::kWrite);
  EXPECT_EQ(sent[1].opcode, Opcode::kWrite);
  EXPECT_EQ(sent[1].last, ddp::Last::kYes);
  EXPECT_EQ(sent[0].payload.size() + sent[1].payload.size(), 300U);
  EXPECT_EQ(sent[2].opcode, Opcode::kImmediate);
  EXPECT_EQ(sent[3].opcode, Opcode::kReadResponse);
  EXPECT_EQ(endpoint.retired(), 1U);
}

TEST_F(TransmitterExtension, WriteOfNothingWithImmediateIsImmediateDataAlone) {
  post_immediate(Operation::kWriteImmediateSolicited, 7);
  const auto sent = send();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].opcode, Opcode::kImmediateSolicited);
}

TEST_F(TransmitterExtension, WriteWithImmediateCanBePlannedAnewAtEachSegment) {
  post_immediate(Operation::kWriteImmediate, 7, 400);
  post_immediate(Operation::kImmediate, 8);
  std::vector<Opcode> opcodes;
  for (int i = 0; i < 4; ++i) {
    const auto before = endpoint.transmitter.cursor();
    const auto planned = endpoint.transmitter.next(300);
    ASSERT_TRUE(planned);
    endpoint.transmitter.rewind(before);
    const auto again = endpoint.transmitter.next(300);
    ASSERT_TRUE(again);
    EXPECT_EQ(planned->closes_request, again->closes_request);
    EXPECT_EQ(again->closes_request, i >= 2);
    opcodes.push_back(take_apart(*endpoint.assemble(*again)).opcode);
  }
  EXPECT_EQ(opcodes,
            (std::vector{Opcode::kWrite, Opcode::kWrite, Opcode::kImmediate, Opcode::kImmediate}));
}

TEST_F(TransmitterExtension, AtomicRequestsShareTheQueueOfReadRequests) {
  post(Operation::kRead, 16);
  post_atomic(Operation::kFetchAdd, {5, 6, 7, 8});
  post_atomic(Operation::kCmpSwap, {1, 2, 3, 4});
  const auto sent = send();
  ASSERT_EQ(sent.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sent[i].untagged.qn, QueueNumber{1});
    EXPECT_EQ(sent[i].untagged.msn, Msn{i + 1});
  }
  const auto add = AtomicRequest::parse(sent[1].payload).value();
  EXPECT_EQ(add.opcode, 0U);
  EXPECT_EQ(add.stag, kRemote);
  EXPECT_EQ(add.to, TaggedOffset{16384});
  EXPECT_EQ(add.operands, (rdmap::AtomicOperands{5, 6, 0, UINT64_MAX}));  // §5.2.1
  const auto swap = AtomicRequest::parse(sent[2].payload).value();
  EXPECT_EQ(swap.opcode, 2U);
  EXPECT_EQ(swap.operands, (rdmap::AtomicOperands{1, 2, 3, 4}));
  EXPECT_NE(add.id, swap.id);
}

TEST_F(TransmitterExtension, AtomicsCountAgainstOrdTogetherWithReads) {
  post(Operation::kRead, 16);
  for (int i = 0; i < 5; ++i) post_atomic(Operation::kFetchAdd, {1, 0, 0, 0});
  EXPECT_EQ(send().size(), 4U);  // ORD is 4
  endpoint.reads.finish();
  EXPECT_EQ(send().size(), 1U);
}

TEST_F(TransmitterExtension, FenceWaitsForAtomics) {
  post_atomic(Operation::kFetchAdd, {1, 0, 0, 0});
  rdmap::Request fenced = request_of(Operation::kSend);
  fenced.fence = rdmap::Fence::kYes;
  endpoint.post(fenced);
  EXPECT_EQ(send().size(), 1U);
  endpoint.reads.finish();
  EXPECT_EQ(send().size(), 1U);
}

TEST_F(TransmitterExtension, StopsAtALocalOperationUntilItIsDone) {
  post(Operation::kSend, 10);
  endpoint.post(request_of(Operation::kLocal));
  post(Operation::kSend, 20);
  EXPECT_FALSE(endpoint.transmitter.local_due());
  ask(5);
  EXPECT_EQ(send().size(), 2U);  // what is before it, and a response
  EXPECT_TRUE(endpoint.transmitter.local_due());
  endpoint.transmitter.skip_local();
  EXPECT_FALSE(endpoint.transmitter.local_due());
  EXPECT_EQ(send().size(), 1U);
}

TEST_F(TransmitterExtension, FenceHoldsALocalOperationToo) {
  post(Operation::kRead, 10);
  rdmap::Request local = request_of(Operation::kLocal);
  local.fence = rdmap::Fence::kYes;
  endpoint.post(local);
  EXPECT_EQ(send().size(), 1U);
  EXPECT_FALSE(endpoint.transmitter.local_due());
  endpoint.reads.finish();
  EXPECT_TRUE(endpoint.transmitter.local_due());
}

TEST_F(TransmitterExtension, AtomicResponsesLeaveOnQueueThreeInOrderAmongReadResponses) {
  endpoint.responses.append(AtomicResponse{11, 100});
  ask(10);
  endpoint.responses.append(AtomicResponse{12, 200});
  const auto sent = send();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].untagged.qn, QueueNumber{3});
  EXPECT_EQ(sent[0].untagged.msn, Msn{1});
  EXPECT_EQ(AtomicResponse::parse(sent[0].payload), (AtomicResponse{11, 100}));
  EXPECT_EQ(sent[1].opcode, Opcode::kReadResponse);
  EXPECT_EQ(sent[2].untagged.msn, Msn{2});
  EXPECT_EQ(AtomicResponse::parse(sent[2].payload), (AtomicResponse{12, 200}));
}

}  // namespace
}  // namespace iwarp::test
