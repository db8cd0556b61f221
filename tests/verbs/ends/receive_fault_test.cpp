#include "iwarp/base/crc32c.hpp"
#include "verbs/raw_peer.hpp"

// What a peer does wrong, and what it is told.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;
using rdmap::Cause;
using rdmap::Layer;

class ReceiveFault : public testing::Test {
 protected:
  explicit ReceiveFault(const PairOptions& options = RawPair::without_rtr()) : pair(options) {}

  // The queue pair answers with this Terminate and FIN, flushes what was posted and places nothing.
  void expect_terminate(const Cause& cause) {
    ASSERT_TRUE(pair.run_until_closed());
    pair.turn();
    const auto terminate = pair.peer.terminate();
    ASSERT_TRUE(terminate) << "no Terminate came";
    EXPECT_EQ(terminate->cause, cause);
    EXPECT_TRUE(pair.peer.ended);
    EXPECT_FALSE(pair.peer.lost);
    const auto told = pair.end.qp->terminate_sent();
    ASSERT_TRUE(told);
    EXPECT_EQ((Cause{static_cast<Layer>(told->layer), told->type, told->code}), cause);
    ASSERT_EQ(pair.end.count(ConnectionEvent::Kind::kDisconnected), 1U);
    EXPECT_TRUE(pair.end.end_reason().code);
    EXPECT_NE(pair.end.end_reason().message.find(rdmap::describe(cause)), std::string::npos)
        << pair.end.end_reason().message;
    EXPECT_TRUE(pair.end.intact());
    EXPECT_TRUE(untouched(exposed) && untouched(local) && untouched(inbox));
  }
  static bool untouched(const Region& region) {
    const ConstBytes bytes = region.memory.bytes();
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  }
  void post_receive(std::uint64_t id, std::size_t length) {
    const Sge sge = inbox.sge(0, length);
    post(pair.end, RecvWr{id, {&sge, 1}});
  }
  void send_write(Stag stag, std::uint64_t to, std::size_t length) {
    pair.peer.send(segment(tagged(rdmap::Opcode::kWrite, stag, TaggedOffset{to}), pattern(length)));
  }
  void send_message(std::uint32_t msn, std::uint32_t mo, std::size_t length,
                    ddp::Last last = ddp::Last::kYes) {
    pair.peer.send(segment(untagged(rdmap::Opcode::kSend, msn, mo, last), pattern(length)));
  }

  RawPair pair;
  Region& exposed =
      pair.end.region(256, Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead);
  Region& local = pair.end.region(256, Access::kLocalWrite);
  Region& inbox = pair.end.region(256, Access::kLocalWrite);
};

// ---- MPA ----

TEST_F(ReceiveFault, CrcErrorIsAnsweredByTerminate202) {
  post_receive(5, 64);
  auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(40)));
  octets[30] ^= std::byte{0x10};
  pair.peer.send_octets(octets);
  expect_terminate({Layer::kLlp, 0, 0x02});
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
}

TEST_F(ReceiveFault, NothingBehindACrcErrorIsPlaced) {
  auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1)));
  octets.back() ^= std::byte{0x01};
  pair.peer.send_octets(octets);
  send_write(exposed.key(), exposed.to(0), 32);
  expect_terminate({Layer::kLlp, 0, 0x02});
}

class MarkerFault : public ReceiveFault {
 protected:
  MarkerFault() : ReceiveFault(options()) {}
  static PairOptions options() {
    PairOptions made = RawPair::without_rtr();
    made.to_client = mpa::Markers::kOn;
    return made;
  }
};

TEST_F(MarkerFault, MarkerMismatchIsAnsweredByTerminate203) {
  auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(40)));
  octets[mpa::kFpduPtrOffset + 1] ^= std::byte{0x08};  // the Marker in front of the first FPDU
  const std::size_t checked = octets.size() - mpa::kCrcSize;
  store_le(octets.data() + checked, crc32c(ConstBytes(octets).first(checked)));
  pair.peer.send_octets(octets);
  expect_terminate({Layer::kLlp, 0, 0x03});
}

// ---- DDP, tagged ----

TEST_F(ReceiveFault, WriteToAnUnknownStagIsAnsweredByTerminate110) {
  send_write(Stag{exposed.key().value() ^ 0x55U}, exposed.to(0), 32);
  expect_terminate({Layer::kDdp, 1, 0x00});
}

TEST_F(ReceiveFault, WriteToADeregisteredRegionIsAnsweredByTerminate110) {
  const Stag gone = exposed.key();
  exposed.mr.reset();
  send_write(gone, exposed.to(0), 32);
  expect_terminate({Layer::kDdp, 1, 0x00});
}

TEST_F(ReceiveFault, WriteWithoutTheRightIsAnsweredByTerminate110) {
  send_write(local.key(), local.to(0), 32);
  expect_terminate({Layer::kDdp, 1, 0x00});
}

TEST_F(ReceiveFault, WritePastTheEndIsAnsweredByTerminate111) {
  send_write(exposed.key(), exposed.to(exposed.memory.size() - 31), 32);
  expect_terminate({Layer::kDdp, 1, 0x01});
}

TEST_F(ReceiveFault, WriteBeforeTheStartIsAnsweredByTerminate111) {
  send_write(exposed.key(), exposed.to(0) - 1, 32);
  expect_terminate({Layer::kDdp, 1, 0x01});
}

TEST_F(ReceiveFault, WriteIntoAnotherPdIsAnsweredByTerminate112) {
  const auto other = std::make_shared<soft::SoftPd>(ddp::ProtectionDomainId{77});
  Region& foreign = pair.end.region(64, Access::kLocalWrite | Access::kRemoteWrite, other);
  send_write(foreign.key(), foreign.to(0), 32);
  expect_terminate({Layer::kDdp, 1, 0x02});
  EXPECT_TRUE(untouched(foreign));
}

TEST_F(ReceiveFault, TaggedOffsetThatWrapsIsAnsweredByTerminate113) {
  send_write(exposed.key(), UINT64_MAX - 7, 32);
  expect_terminate({Layer::kDdp, 1, 0x03});
}

TEST_F(ReceiveFault, TaggedDdpVersionIsAnsweredByTerminate114) {
  Ulpdu ulpdu = segment(tagged(rdmap::Opcode::kWrite, exposed.key(), TaggedOffset{exposed.to(0)}),
                        pattern(32));
  ulpdu[0] ^= std::byte{0x03};  // DV
  pair.peer.send(ulpdu);
  expect_terminate({Layer::kDdp, 1, 0x04});
}

// ---- DDP, untagged ----

TEST_F(ReceiveFault, QueueNumberBeyondTheLastIsAnsweredByTerminate121) {
  auto header = untagged(rdmap::Opcode::kSend, 1);
  header.qn = QueueNumber{4};
  pair.peer.send(segment(header));
  expect_terminate({Layer::kDdp, 2, 0x01});
}

TEST_F(ReceiveFault, SendWithoutAReceiveIsAnsweredByTerminate122) {
  send_message(1, 0, 10);
  expect_terminate({Layer::kDdp, 2, 0x02});
}

TEST_F(ReceiveFault, MsnThatSkipsIsAnsweredByTerminate123) {
  post_receive(5, 64);
  send_message(2, 0, 10);
  expect_terminate({Layer::kDdp, 2, 0x03});
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
}

TEST_F(ReceiveFault, MessageOffsetThatSkipsIsAnsweredByTerminate124) {
  post_receive(5, 64);
  send_message(1, 4, 10);
  expect_terminate({Layer::kDdp, 2, 0x04});
}

TEST_F(ReceiveFault, SendLongerThanItsReceiveIsAnsweredByTerminate125) {
  post_receive(5, 31);
  post_receive(6, 64);
  send_message(1, 0, 32);
  expect_terminate({Layer::kDdp, 2, 0x05});
  EXPECT_EQ(ids(pair.end.received), (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(statuses(pair.end.received),
            (std::vector{Status::kLocalLengthError, Status::kFlushed}));
}

TEST_F(ReceiveFault, TooLongReadRequestIsNoFaultOfTheReceiveThatIsBeingFilled) {
  post_receive(5, 64);
  send_message(1, 0, 0, ddp::Last::kNo);
  pair.peer.send(segment(untagged(rdmap::Opcode::kReadRequest, 1), pattern(29)));
  expect_terminate({Layer::kDdp, 2, 0x05});
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
}

TEST_F(ReceiveFault, UntaggedDdpVersionIsAnsweredByTerminate126) {
  Ulpdu ulpdu = segment(untagged(rdmap::Opcode::kSend, 1), pattern(8));
  ulpdu[0] ^= std::byte{0x01};  // DV
  pair.peer.send(ulpdu);
  expect_terminate({Layer::kDdp, 2, 0x06});
}

// ---- RDMAP ----

TEST_F(ReceiveFault, RdmapVersionIsAnsweredByTerminate025) {
  Ulpdu ulpdu = segment(untagged(rdmap::Opcode::kSend, 1), pattern(8));
  ulpdu[1] ^= std::byte{0xC0};  // RV
  pair.peer.send(ulpdu);
  expect_terminate({Layer::kRdmap, 2, 0x05});
}

TEST_F(ReceiveFault, ReservedOpcodeIsAnsweredByTerminate026) {
  Ulpdu ulpdu = segment(untagged(rdmap::Opcode::kSend, 1), pattern(8));
  ulpdu[1] |= std::byte{0x0C};
  pair.peer.send(ulpdu);
  expect_terminate({Layer::kRdmap, 2, 0x06});
}

TEST_F(ReceiveFault, ReadResponseThatNobodyAskedForIsAnsweredByTerminate026) {
  pair.peer.send(
      segment(tagged(rdmap::Opcode::kReadResponse, exposed.key(), TaggedOffset{exposed.to(0)}),
              pattern(8)));
  expect_terminate({Layer::kRdmap, 2, 0x06});
}

TEST_F(ReceiveFault, SegmentShorterThanItsHeaderEndsTheStream) {
  pair.peer.send(Ulpdu(5, std::byte{0x41}));
  expect_terminate({Layer::kRdmap, 2, 0x07});
}

TEST_F(ReceiveFault, EmptyUlpduEndsTheStream) {
  pair.peer.send({});
  expect_terminate({Layer::kRdmap, 2, 0x07});
}

}  // namespace
}  // namespace iwarp::verbs::simtest
