#include <gtest/gtest.h>

#include <array>

#include "ddp/domain.hpp"
#include "iwarp/ddp/stag_table.hpp"

/// STags that are set aside first and come into force later, windows on other buffers, and buffers
/// that are open to one stream only.
namespace iwarp::ddp {
namespace {

constexpr StreamId kStream{11};

class StagWindow : public testing::Test {
 protected:
  [[nodiscard]] TaggedBuffer buffer(Stag parent = {}, StreamId stream = kAnyStream) {
    return {memory_.data(),
            TaggedOffset{0},
            memory_.size(),
            kPd,
            Rights::kRemoteWrite | Rights::kRemoteInvalidate,
            stream,
            parent};
  }
  Result<StagTable::Pin, Error> pin(Stag stag, StreamId stream = kAnyStream) {
    return table_.pin(stag, {kPd, stream}, Rights::kRemoteWrite, TaggedOffset{0}, 1);
  }
  static Stag with_key(Stag stag, std::uint8_t key) {
    return Stag{(stag.value() & 0xFFFFFF00U) | key};
  }

  std::array<std::byte, 64> memory_{};
  StagTable table_{7};
};

TEST_F(StagWindow, IsNotInForceWhenItIsReserved) {
  const Stag stag = table_.reserve(4, 0x21);
  EXPECT_EQ(stag.value() & 0xFFU, 0x21U);
  EXPECT_EQ(table_.slot_of(stag), 4U);
  EXPECT_FALSE(pin(stag));
}

TEST_F(StagWindow, ComesIntoForceUnderTheKeyOfItsOwnersChoice) {
  const Stag reserved = table_.reserve(4, 0);
  for (unsigned key = 0; key < 256; ++key) {
    const Stag stag = with_key(reserved, static_cast<std::uint8_t>(key));
    ASSERT_EQ(table_.activate(stag, buffer()), Activation::kDone);
    EXPECT_TRUE(pin(stag));
    EXPECT_FALSE(pin(with_key(reserved, static_cast<std::uint8_t>(key + 1))));
    EXPECT_TRUE(table_.disable(stag));
  }
}

TEST_F(StagWindow, IsNotActivatedTwice) {
  const Stag stag = table_.reserve(4, 1);
  ASSERT_EQ(table_.activate(stag, buffer()), Activation::kDone);
  EXPECT_EQ(table_.activate(with_key(stag, 2), buffer()), Activation::kRefused);
  EXPECT_TRUE(pin(stag));
}

TEST_F(StagWindow, IsNotActivatedUnderAnIndexOfAnotherTime) {
  const Stag old = table_.reserve(4, 1);
  const Stag stag = table_.reserve(4, 1);
  EXPECT_EQ(table_.activate(old, buffer()), Activation::kRefused);
  EXPECT_EQ(table_.activate(Stag{stag.value() ^ 0x100U}, buffer()), Activation::kRefused);
  EXPECT_EQ(table_.activate(stag, buffer()), Activation::kDone);
}

TEST_F(StagWindow, IsNotActivatedWhileItIsStillInUse) {
  const Stag stag = table_.reserve(4, 1);
  ASSERT_EQ(table_.activate(stag, buffer()), Activation::kDone);
  auto held = pin(stag);
  ASSERT_TRUE(held);
  EXPECT_TRUE(table_.disable(stag));
  EXPECT_EQ(table_.activate(stag, buffer()), Activation::kBusy);
  held = failure(Error::kInvalidStag);
  EXPECT_EQ(table_.activate(stag, buffer()), Activation::kDone);
}

TEST_F(StagWindow, EndsWithTheBufferThatItIsAWindowOn) {
  const Stag parent = table_.enable(1, 5, buffer());
  const Stag window = table_.reserve(2, 6);
  ASSERT_EQ(table_.activate(window, buffer(parent)), Activation::kDone);
  EXPECT_TRUE(pin(window));
  table_.disable(parent);
  EXPECT_EQ(pin(window).error(), Error::kInvalidStag);
}

// Its owner, or the peer, sets it free for another binding; where its Tagged Offsets begin does not
// matter.
TEST_F(StagWindow, OnABufferThatHasEndedCanBeInvalidated) {
  for (const std::uint64_t base : {0U, 4096U}) {
    const Stag parent = table_.enable(1, 5, buffer());
    const Stag window = table_.reserve(2, 6);
    TaggedBuffer part = buffer(parent);
    part.base = TaggedOffset{base};
    ASSERT_EQ(table_.activate(window, part), Activation::kDone);
    table_.disable(parent);
    EXPECT_TRUE(table_.invalidate_for_peer(window, kPd)) << "from " << base;
    EXPECT_EQ(table_.activate(with_key(window, 7), part), Activation::kDone);
    table_.disable(with_key(window, 7));
  }
}

TEST_F(StagWindow, HoldsTheBufferInPlaceThatItIsAWindowOn) {
  const Stag parent = table_.enable(1, 5, buffer());
  const Stag window = table_.reserve(2, 6);
  ASSERT_EQ(table_.activate(window, buffer(parent)), Activation::kDone);
  {
    const auto held = pin(window);
    ASSERT_TRUE(held);
    table_.disable(parent);
    EXPECT_FALSE(table_.idle(1));
    EXPECT_FALSE(table_.idle(2));
  }
  EXPECT_TRUE(table_.idle(1));
  EXPECT_TRUE(table_.idle(2));
}

TEST_F(StagWindow, OfOneStreamIsClosedToOthers) {  // RFC 5042 §6.1.1
  const Stag stag = table_.enable(1, 5, buffer({}, kStream));
  EXPECT_TRUE(pin(stag, kStream));
  EXPECT_EQ(pin(stag, StreamId{12}).error(), Error::kStagNotAssociated);
  EXPECT_EQ(pin(stag).error(), Error::kStagNotAssociated);
  EXPECT_FALSE(table_.invalidate_for_peer(stag, {kPd, StreamId{12}}));
  EXPECT_TRUE(table_.invalidate_for_peer(stag, {kPd, kStream}));
}

}  // namespace
}  // namespace iwarp::ddp
