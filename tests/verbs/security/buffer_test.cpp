#include "verbs/raw_peer.hpp"

// What a peer can do with a buffer that was opened for it, and what it can do no more once that was
// taken back (RFC 5042 §6.2, §6.3).
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;
using rdmap::Cause;
using rdmap::Layer;

class SecurityBuffer : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 256;

  void write(Region& region, std::size_t at, std::size_t length, unsigned seed = 0,
             ddp::Last last = ddp::Last::kYes) {
    pair.peer.send(
        segment(tagged(WireOpcode::kWrite, region.key(), TaggedOffset{region.to(at)}, last),
                pattern(length, seed)));
  }
  void read(Region& region, std::uint32_t length) {
    const rdmap::ReadRequest request{Stag{1}, TaggedOffset{0}, length, region.key(),
                                     TaggedOffset{region.to(0)}};
    pair.peer.send(segment(untagged(WireOpcode::kReadRequest, ++reads), encoded(request)));
  }
  void send_invalidate(Stag stag) {
    auto header = untagged(WireOpcode::kSendInvalidate, 1);
    header.rsvd_ulp_word = stag.value();
    pair.peer.send(segment(header));
  }
  void expect_terminate(const Cause& cause) {
    ASSERT_TRUE(pair.run_until_closed());
    ASSERT_TRUE(pair.peer.terminate());
    EXPECT_EQ(pair.peer.terminate()->cause, cause);
    EXPECT_TRUE(pair.end.intact());
  }
  static bool holds(const Region& region, ConstBytes expected) {
    const ConstBytes bytes = region.memory.bytes();
    return std::equal(expected.begin(), expected.end(), bytes.begin());
  }

  RawPair pair;
  std::uint32_t reads = 0;
};

TEST_F(SecurityBuffer, CannotBeChangedOnceThePeerHasInvalidatedIt) {  // §6.2.2
  Region& region = pair.end.region(
      kSize, Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteInvalidate);
  const Stag stag = region.key();
  post(pair.end, RecvWr{1, {}});
  write(region, 0, kSize);
  send_invalidate(stag);
  write(region, 0, kSize, 1);
  expect_terminate({Layer::kDdp, 1, 0x00});
  EXPECT_EQ(pair.end.received.at(0).invalidated, stag);
  EXPECT_TRUE(holds(region, pattern(kSize)));
}

TEST_F(SecurityBuffer, CannotBeChangedOnceItsOwnerHasTakenItBackMidway) {
  Region& region = pair.end.region(kSize, Access::kLocalWrite | Access::kRemoteWrite);
  const Stag stag = region.key();
  write(region, 0, kSize / 2, 0, ddp::Last::kNo);
  ASSERT_TRUE(pair.run_until([&] { return region.memory.bytes()[0] != std::byte{0}; }));
  region.mr.reset();
  pair.peer.send(segment(tagged(WireOpcode::kWrite, stag, TaggedOffset{region.to(kSize / 2)}),
                         pattern(kSize / 2)));
  expect_terminate({Layer::kDdp, 1, 0x00});
  EXPECT_EQ(region.memory.bytes()[kSize / 2], std::byte{0});
}

TEST_F(SecurityBuffer, OpenForWritingOnlyCannotBeRead) {  // §6.3.5
  Region& region = pair.end.region(kSize, Access::kLocalWrite | Access::kRemoteWrite);
  write(region, 0, kSize);
  read(region, 0);  // the way to learn that all Writes have come stays open
  ASSERT_TRUE(pair.run_until([this] { return pair.peer.came.size() == 1; }));
  EXPECT_EQ(opcode_of(pair.peer.came[0]), WireOpcode::kReadResponse);
  EXPECT_TRUE(holds(region, pattern(kSize)));
  read(region, 16);
  expect_terminate({Layer::kRdmap, 1, 0x02});
  EXPECT_EQ(pair.peer.came.size(), 2U);
}

TEST_F(SecurityBuffer, OpenForReadingOnlyCannotBeWritten) {
  Region& region = pair.end.region(kSize, Access::kLocalWrite | Access::kRemoteRead);
  read(region, 16);
  ASSERT_TRUE(pair.run_until([this] { return pair.peer.came.size() == 1; }));
  write(region, 0, 16);
  expect_terminate({Layer::kDdp, 1, 0x00});
  EXPECT_EQ(region.memory.bytes()[0], std::byte{0});
}

// Every way to leave a buffer of eight octets by up to nine: none reaches an octet beside it.
TEST_F(SecurityBuffer, CannotBeOverrunAtEitherEdge) {  // §6.2.1, §6.3.1
  constexpr std::size_t kSmall = 8;
  for (int at = -9; at <= 9; ++at) {
    for (std::uint32_t length = 1; length <= 18; ++length) {
      if (at >= 0 && static_cast<std::size_t>(at) + length <= kSmall) continue;
      for (const bool writes : {true, false}) {
        RawPair other;
        Region& region = other.end.region(
            kSmall, Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead);
        const TaggedOffset to{region.to(0) + static_cast<std::uint64_t>(at)};
        const rdmap::ReadRequest request{Stag{1}, TaggedOffset{0}, length, region.key(), to};
        other.peer.send(writes
                            ? segment(tagged(WireOpcode::kWrite, region.key(), to), pattern(length))
                            : segment(untagged(WireOpcode::kReadRequest, 1), encoded(request)));
        ASSERT_TRUE(other.run_until_closed());
        ASSERT_TRUE(other.peer.terminate()) << at << " " << length;
        EXPECT_EQ(other.peer.terminate()->cause.code, 0x01);
        EXPECT_EQ(other.peer.came.size(), 1U);
        EXPECT_TRUE(other.end.intact());
        EXPECT_EQ(region.memory.bytes()[0], std::byte{0});
      }
    }
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
