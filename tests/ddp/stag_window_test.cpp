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
  [[nodiscard]] TaggedBuffer buffer(Registration parent = {}, StreamId stream = kAnyStream) {
    return {memory_.data(),
            TaggedOffset{0},
            memory_.size(),
            kPd,
            Rights::kRemoteWrite | Rights::kRemoteInvalidate,
            stream,
            parent};
  }
  Stag reserve(KeyChoice choice = KeyChoice::kOwner) { return table_.reserve(choice).value(); }
  // A window on what is in force under `parent`.
  Stag window_on(Stag parent) {
    const Stag window = reserve();
    EXPECT_EQ(table_.activate(window, buffer(table_.registration_of(parent))), Activation::kDone);
    return window;
  }
  Result<StagTable::Pin, Error> pin(Stag stag, StreamId stream = kAnyStream) {
    return table_.pin(stag, {kPd, stream}, Rights::kRemoteWrite, TaggedOffset{0}, 1);
  }
  static Stag with_key(Stag stag, unsigned key) { return Stag{index_of(stag) | (key & 0xFFU)}; }

  std::array<std::byte, 64> memory_{};
  StagTable table_{7};
};

TEST_F(StagWindow, IsNotInForceWhenItIsReserved) {
  EXPECT_FALSE(pin(reserve()));
  EXPECT_FALSE(pin(reserve(KeyChoice::kTable)));
}

TEST_F(StagWindow, ComesIntoForceUnderTheKeyOfItsOwnersChoice) {
  const Stag reserved = reserve();
  for (unsigned key = 0; key < 256; ++key) {
    const Stag stag = with_key(reserved, key);
    ASSERT_EQ(table_.activate(stag, buffer()), Activation::kDone);
    EXPECT_TRUE(pin(stag));
    EXPECT_FALSE(pin(with_key(reserved, key + 1)));
    EXPECT_TRUE(table_.disable(stag));
  }
}

TEST_F(StagWindow, HasNoOtherKeyIfTheTableChoseIt) {
  const Stag reserved = reserve(KeyChoice::kTable);
  for (unsigned step = 1; step < 256; ++step) {
    const Stag stag = with_key(reserved, reserved.value() + step);
    ASSERT_EQ(table_.activate(stag, buffer()), Activation::kRefused);
  }
  EXPECT_EQ(table_.activate(reserved, buffer()), Activation::kDone);
  EXPECT_TRUE(pin(reserved));
}

TEST_F(StagWindow, IsNotActivatedTwice) {
  const Stag stag = reserve();
  ASSERT_EQ(table_.activate(stag, buffer()), Activation::kDone);
  EXPECT_EQ(table_.activate(with_key(stag, stag.value() + 1), buffer()), Activation::kRefused);
  EXPECT_TRUE(pin(stag));
}

TEST_F(StagWindow, IsNotActivatedUnderAnIndexOfAnotherTime) {
  const Stag old = reserve();
  table_.release(old);
  const Stag stag = reserve();
  EXPECT_EQ(table_.activate(old, buffer()), Activation::kRefused);
  EXPECT_EQ(table_.activate(Stag{stag.value() ^ 0x100U}, buffer()), Activation::kRefused);
  EXPECT_EQ(table_.activate(stag, buffer()), Activation::kDone);
}

TEST_F(StagWindow, IsNotActivatedWhileACopyIsUnderWay) {
  const Stag stag = reserve();
  ASSERT_EQ(table_.activate(stag, buffer()), Activation::kDone);
  auto held = std::move(pin(stag)).value();
  EXPECT_TRUE(table_.disable(stag));
  EXPECT_EQ(table_.activate(stag, buffer()), Activation::kBusy);
  held.lend();  // from here on nobody looks at the buffer's place
  EXPECT_EQ(table_.activate(stag, buffer()), Activation::kDone);
}

TEST_F(StagWindow, IsEndedWhateverItsKey) {
  const Stag stag = reserve();
  ASSERT_EQ(table_.activate(with_key(stag, 0x5A), buffer()), Activation::kDone);
  table_.end(stag);
  EXPECT_FALSE(pin(with_key(stag, 0x5A)));
}

TEST_F(StagWindow, EndsWithTheBufferThatItIsAWindowOn) {
  const Stag parent = table_.enable(buffer()).value();
  const Stag window = window_on(parent);
  EXPECT_TRUE(pin(window));
  table_.disable(parent);
  EXPECT_EQ(pin(window).error(), Error::kInvalidStag);
}

// The program may bring the same STag into force again, and what is made next may have the place of
// what has ended.
TEST_F(StagWindow, StaysClosedWhateverTakesTheBuffersPlace) {
  const Stag parent = reserve();
  ASSERT_EQ(table_.activate(parent, buffer()), Activation::kDone);
  const Stag window = window_on(parent);
  table_.disable(parent);
  ASSERT_EQ(table_.activate(parent, buffer()), Activation::kDone);
  EXPECT_EQ(pin(window).error(), Error::kInvalidStag);
  table_.end(parent);
  table_.release(parent);
  for (int i = 0; i < 1000; ++i) {
    const Stag next = table_.enable(buffer()).value();
    ASSERT_EQ(pin(window).error(), Error::kInvalidStag);
    const Stag other = window_on(next);
    ASSERT_TRUE(pin(other));
    ASSERT_EQ(pin(window).error(), Error::kInvalidStag);
    table_.disable(next);
    table_.release(next);
    table_.end(other);
    table_.release(other);
  }
}

// Its owner, or the peer, sets it free for another binding; where its Tagged Offsets begin does not
// matter.
TEST_F(StagWindow, OnABufferThatHasEndedCanBeInvalidated) {
  for (const std::uint64_t base : {0U, 4096U}) {
    const Stag parent = table_.enable(buffer()).value();
    const Stag window = reserve();
    TaggedBuffer part = buffer(table_.registration_of(parent));
    part.base = TaggedOffset{base};
    ASSERT_EQ(table_.activate(window, part), Activation::kDone);
    table_.disable(parent);
    EXPECT_TRUE(table_.invalidate_for_peer(window, kPd)) << "from " << base;
    EXPECT_EQ(table_.activate(with_key(window, 7), part), Activation::kDone);
  }
}

TEST_F(StagWindow, HoldsTheBufferInPlaceThatItIsAWindowOn) {
  const Stag parent = table_.enable(buffer()).value();
  const Stag window = window_on(parent);
  {
    auto held = std::move(pin(window)).value();
    table_.disable(parent);
    EXPECT_FALSE(table_.idle(parent));
    EXPECT_FALSE(table_.quiet(parent));
    EXPECT_FALSE(table_.idle(window));
    held.lend();
    EXPECT_TRUE(table_.quiet(parent));
    EXPECT_FALSE(table_.idle(parent));
  }
  EXPECT_TRUE(table_.idle(parent));
  EXPECT_TRUE(table_.idle(window));
}

TEST_F(StagWindow, OfOneStreamIsClosedToOthers) {  // RFC 5042 §6.1.1
  const Stag stag = table_.enable(buffer({}, kStream)).value();
  EXPECT_TRUE(pin(stag, kStream));
  EXPECT_EQ(pin(stag, StreamId{12}).error(), Error::kStagNotAssociated);
  EXPECT_EQ(pin(stag, StreamId{kStream.value() + (std::uint64_t{1} << 32U)}).error(),
            Error::kStagNotAssociated);
  EXPECT_EQ(pin(stag).error(), Error::kStagNotAssociated);
  EXPECT_FALSE(table_.invalidate_for_peer(stag, {kPd, StreamId{12}}));
  EXPECT_TRUE(table_.invalidate_for_peer(stag, {kPd, kStream}));
}

}  // namespace
}  // namespace iwarp::ddp
