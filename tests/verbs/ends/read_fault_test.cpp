#include "verbs/raw_peer.hpp"

// RDMA Reads and remote invalidation that a peer may not do.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;
using rdmap::Cause;
using rdmap::Layer;

class ReadFault : public testing::Test {
 protected:
  ReadFault() : pair(options()) {}
  static PairOptions options() {
    PairOptions made = RawPair::without_rtr();
    made.client_depths = {2, 2};
    made.net.send_buffer = made.net.receive_buffer = 4096;
    return made;
  }
  void ask(std::uint32_t msn, Stag stag, std::uint64_t to, std::uint32_t length) {
    const rdmap::ReadRequest request{Stag{0x1111}, TaggedOffset{0}, length, stag, TaggedOffset{to}};
    pair.peer.send(segment(untagged(rdmap::Opcode::kReadRequest, msn), encoded(request)));
  }
  void expect_terminate(const Cause& cause) {
    ASSERT_TRUE(pair.run_until_closed());
    const auto terminate = pair.peer.terminate();
    ASSERT_TRUE(terminate) << "no Terminate came";
    EXPECT_EQ(terminate->cause, cause);
  }
  void expect_read_refused(const Cause& cause) {
    expect_terminate(cause);
    EXPECT_EQ(pair.peer.came.size(), 1U) << "something was read";
    const auto terminate = pair.peer.terminate();
    ASSERT_TRUE(terminate && terminate->read_request) << "the Read Request is not echoed";
    EXPECT_EQ(terminate->read_request->sink_stag, Stag{0x1111});
  }
  void send_invalidate(Stag stag) {
    auto header = untagged(rdmap::Opcode::kSendInvalidate, 1);
    header.rsvd_ulp_word = stag.value();
    pair.peer.send(segment(header));
  }

  RawPair pair;
  Region& readable = pair.end.region(256, Access::kRemoteRead);
  Region& local = pair.end.region(256, Access::kLocalWrite);
};

TEST_F(ReadFault, UnknownStagIsAnsweredByTerminate010) {
  ask(1, Stag{readable.key().value() ^ 1U}, readable.to(0), 16);
  expect_read_refused({Layer::kRdmap, 1, 0x00});
}

TEST_F(ReadFault, RangePastTheEndIsAnsweredByTerminate011) {
  ask(1, readable.key(), readable.to(1), 256);
  expect_read_refused({Layer::kRdmap, 1, 0x01});
}

TEST_F(ReadFault, RegionWithoutRemoteReadIsAnsweredByTerminate012) {
  ask(1, local.key(), local.to(0), 16);
  expect_read_refused({Layer::kRdmap, 1, 0x02});
}

TEST_F(ReadFault, RegionOfAnotherPdIsAnsweredByTerminate013) {
  const auto other = std::make_shared<soft::SoftPd>(ddp::ProtectionDomainId{77});
  Region& foreign = pair.end.region(64, Access::kRemoteRead, other);
  ask(1, foreign.key(), foreign.to(0), 16);
  expect_read_refused({Layer::kRdmap, 1, 0x03});
}

TEST_F(ReadFault, OffsetThatWrapsIsAnsweredByTerminate014) {
  ask(1, readable.key(), UINT64_MAX - 3, 16);
  expect_read_refused({Layer::kRdmap, 1, 0x04});
}

TEST_F(ReadFault, EmptyReadNamesNothing) {
  ask(1, Stag{0xDEAD}, UINT64_MAX, 0);
  ASSERT_TRUE(pair.run_until([this] { return !pair.peer.came.empty(); }));
  EXPECT_EQ(opcode_of(pair.peer.came.front()), rdmap::Opcode::kReadResponse);
  EXPECT_EQ(pair.end.qp->state(), QpState::kRts);
}

TEST_F(ReadFault, ReadsBeyondIrdAreAnsweredByTerminate122) {
  pair.peer.reads = false;  // no response gets through behind what is stuck
  const Sge stuck = pair.end.region(20'000, Access::kNone).sge();
  post(pair.end, write_of(1, {&stuck, 1}, Stag{1}, 0));
  for (std::uint32_t msn = 1; msn <= 4; ++msn) ask(msn, readable.key(), readable.to(0), 16);
  pair.run_for(1s);
  pair.peer.reads = true;
  expect_terminate({Layer::kDdp, 2, 0x02});
}

TEST_F(ReadFault, AsManyReadsAsIrdAreServedAtOnce) {
  ask(1, readable.key(), readable.to(0), 16);
  ask(2, readable.key(), readable.to(16), 16);
  ASSERT_TRUE(pair.run_until([this] { return pair.peer.came.size() == 2; }));
  EXPECT_EQ(opcode_of(pair.peer.came[0]), rdmap::Opcode::kReadResponse);
  EXPECT_EQ(opcode_of(pair.peer.came[1]), rdmap::Opcode::kReadResponse);
  EXPECT_EQ(pair.end.qp->counters().peer_reads, 2U);
}

TEST_F(ReadFault, InvalidatingAPlainRegionIsAnsweredByTerminate019) {
  post(pair.end, RecvWr{1, {}});
  send_invalidate(readable.key());
  expect_terminate({Layer::kRdmap, 1, 0x09});
  EXPECT_TRUE(pair.end.host->registry->table().pin(
      readable.key(), pair.end.pd->id(), ddp::Rights::kNone, TaggedOffset{readable.to(0)}, 1));
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
}

TEST_F(ReadFault, InvalidatingAForeignRegionIsAnsweredByTerminate019) {
  const auto other = std::make_shared<soft::SoftPd>(ddp::ProtectionDomainId{77});
  Region& foreign = pair.end.region(64, Access::kRemoteInvalidate, other);
  post(pair.end, RecvWr{1, {}});
  send_invalidate(foreign.key());
  expect_terminate({Layer::kRdmap, 1, 0x09});
  EXPECT_TRUE(pair.end.host->registry->table().pin(foreign.key(), other->id(), ddp::Rights::kNone,
                                                   TaggedOffset{foreign.to(0)}, 1));
}

TEST_F(ReadFault, InvalidatingAnOpenRegionEndsIt) {
  Region& open = pair.end.region(64, Access::kRemoteInvalidate | Access::kRemoteRead);
  post(pair.end, RecvWr{1, {}});
  send_invalidate(open.key());
  ASSERT_TRUE(pair.run_until([this] { return !pair.end.received.empty(); }));
  const Completion& completion = pair.end.received.front();
  EXPECT_EQ(completion.status, Status::kSuccess);
  EXPECT_TRUE(has(completion.flags, CompletionFlags::kInvalidated));
  EXPECT_EQ(completion.invalidated, open.key());
  ask(1, open.key(), open.to(0), 16);
  expect_read_refused({Layer::kRdmap, 1, 0x00});
}

TEST_F(ReadFault, SourceThatGoesMidwayIsAnsweredByTerminate010) {
  Region& big = pair.end.region(500'000, Access::kRemoteRead);
  pair.peer.reads = false;
  ask(1, big.key(), big.to(0), 500'000);
  pair.run_for(1s);
  big.mr.reset();
  pair.peer.reads = true;
  expect_terminate({Layer::kRdmap, 1, 0x00});
  const auto terminate = pair.peer.terminate();
  ASSERT_TRUE(terminate->read_request);
  EXPECT_GT(terminate->read_request->sink_to.value(), 0U) << "some of it had left";
  EXPECT_EQ(terminate->read_request->size + terminate->read_request->sink_to.value(), 500'000U);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
