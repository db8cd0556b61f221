#include "support/rdmap_fixture.hpp"

namespace iwarp::test {
namespace {

using ddp::Last;
using rdmap::Placed;
using rdmap::PlacedWrite;

class ReceiverWrite : public ReceiverTest {
 protected:
  void expect_refused(const Ulpdu& ulpdu, const Cause& cause) {
    const Outcome outcome = take(ulpdu);
    expect_fault(outcome, cause);
    EXPECT_TRUE(untouched());
    if (outcome) return;
    const rdmap::Terminate& message = outcome.error().terminate;
    EXPECT_EQ(message.segment_length, ulpdu.size());
    EXPECT_EQ(message.ddp_header_size, ddp::kTaggedHeaderSize);
    EXPECT_TRUE(std::equal(ulpdu.begin(), ulpdu.begin() + 14, message.ddp_header.begin()));
    EXPECT_EQ(message.read_request, std::nullopt);
    EXPECT_EQ(outcome.error().local_memory, std::nullopt);
  }
  static Ulpdu write(Stag stag, TaggedOffset to, std::size_t size = 10) {
    return segment(tagged(Opcode::kWrite, stag, to), pattern(size));
  }
};

TEST_F(ReceiverWrite, IsPlacedAtItsTaggedOffset) {
  event_of<PlacedWrite>(take_write(17, pattern(100)));
  EXPECT_TRUE(equal(exposed.part(17, 100), pattern(100)));
  EXPECT_TRUE(all_zero(exposed.part(0, 17)));
  EXPECT_TRUE(all_zero(exposed.part(117, kSize - 117)));
}

TEST_F(ReceiverWrite, FillsItsBufferFromEdgeToEdge) {
  event_of<PlacedWrite>(take_write(0, pattern(kSize)));
  EXPECT_TRUE(equal(exposed.part(0, kSize), pattern(kSize)));
}

TEST_F(ReceiverWrite, ReportsItsLastSegmentOnly) {
  const Ulpdu data = pattern(300);
  event_of<Placed>(take_write(0, ConstBytes(data).first(114), Last::kNo));
  event_of<Placed>(take_write(114, ConstBytes(data).subspan(114, 114), Last::kNo));
  event_of<PlacedWrite>(take_write(228, ConstBytes(data).subspan(228), Last::kYes));
  EXPECT_TRUE(equal(exposed.part(0, 300), data));
}

TEST_F(ReceiverWrite, IsPlacedAtOnceEvenIfItsEndNeverComes) {
  event_of<Placed>(take_write(5, pattern(10), Last::kNo));
  EXPECT_TRUE(equal(exposed.part(5, 10), pattern(10)));
}

TEST_F(ReceiverWrite, OfNothingNamesNothing) {  // RFC 5041 §5.2
  for (const std::uint64_t to : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    event_of<PlacedWrite>(take(write(Stag{0xDEADBEEF}, TaggedOffset{to}, 0)));
  }
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverWrite, NeedsNoReceive) {
  event_of<PlacedWrite>(take_write(0, pattern(8)));
  EXPECT_EQ(endpoint.receives.taken(), 0U);
}

TEST_F(ReceiverWrite, ToAnUnknownStagIsRefused) {
  expect_refused(write(Stag{0xDEADBEEF}, exposed.base), {Layer::kDdp, 1, 0x00});
}

TEST_F(ReceiverWrite, WithAWrongKeyIsRefused) {
  expect_refused(write(Stag{exposed.stag.value() ^ 0x01U}, exposed.base), {Layer::kDdp, 1, 0x00});
}

TEST_F(ReceiverWrite, ToAnStagThatHasEndedIsRefused) {
  endpoint.stags.disable(exposed.stag);
  expect_refused(write(exposed.stag, exposed.base), {Layer::kDdp, 1, 0x00});
}

TEST_F(ReceiverWrite, ToMemoryThatGrantsNoRemoteWriteIsRefused) {
  expect_refused(write(local.stag, local.base), {Layer::kDdp, 1, 0x00});
}

TEST_F(ReceiverWrite, BelowItsBufferIsRefused) {
  expect_refused(write(exposed.stag, TaggedOffset{exposed.base.value() - 1}),
                 {Layer::kDdp, 1, 0x01});
}

TEST_F(ReceiverWrite, PastItsBufferByOneOctetIsRefused) {
  expect_refused(write(exposed.stag, exposed.to(kSize - 9)), {Layer::kDdp, 1, 0x01});
}

TEST_F(ReceiverWrite, LongerThanItsBufferIsRefused) {
  expect_refused(write(exposed.stag, exposed.base, kSize + 1), {Layer::kDdp, 1, 0x01});
}

TEST_F(ReceiverWrite, IntoAnotherProtectionDomainIsRefused) {
  const Region& foreign = endpoint.enable(64, ddp::Rights::kRemoteWrite, kOtherPd);
  expect_refused(write(foreign.stag, foreign.base), {Layer::kDdp, 1, 0x02});
  EXPECT_TRUE(all_zero(foreign.memory.bytes()));
}

TEST_F(ReceiverWrite, ThatWrapsIsRefused) {
  expect_refused(write(exposed.stag, TaggedOffset{~std::uint64_t{0} - 8}), {Layer::kDdp, 1, 0x03});
}

TEST_F(ReceiverWrite, OfAnotherDdpVersionIsRefused) {
  Ulpdu ulpdu = write(exposed.stag, exposed.base);
  ulpdu[0] ^= std::byte{0x03};
  expect_refused(ulpdu, {Layer::kDdp, 1, 0x04});
}

TEST_F(ReceiverWrite, AfterAFaultIsDropped) {  // RFC 5041 §7.1
  ASSERT_FALSE(take(write(Stag{0xDEADBEEF}, exposed.base)));
  EXPECT_TRUE(is_dropped(take_write(0, pattern(10))));
  EXPECT_TRUE(untouched());
}

TEST_F(ReceiverWrite, KeepsWhatWasPlacedBeforeAFault) {
  event_of<Placed>(take_write(0, pattern(10), Last::kNo));
  expect_fault(take_write(kSize - 5, pattern(10)), {Layer::kDdp, 1, 0x01});
  EXPECT_TRUE(equal(exposed.part(0, 10), pattern(10)));
  EXPECT_TRUE(all_zero(exposed.part(10, kSize - 10)));
}

TEST_F(ReceiverWrite, MayNotComeBehindTheEndOfItsRegistration) {
  event_of<Placed>(take_write(0, pattern(10), Last::kNo));
  endpoint.stags.disable(exposed.stag);
  expect_fault(take_write(10, pattern(10)), {Layer::kDdp, 1, 0x00});
}

}  // namespace
}  // namespace iwarp::test
