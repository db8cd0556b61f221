#include "iwarp/mpa/startup_reader.hpp"

#include <gtest/gtest.h>

#include "mpa/helpers.hpp"

namespace iwarp::mpa::test {
namespace {

Bytes reply_with(ConstBytes private_data) {
  StartupFrame frame;
  frame.kind = FrameKind::kReply;
  frame.enhanced = EnhancedData{};
  frame.private_data = private_data;
  Bytes bytes(frame.size());
  EXPECT_TRUE(frame.encode(bytes));
  return bytes;
}

TEST(StartupReader, TakesNothingBehindTheFrame) {
  for (std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{508}}) {
    Bytes bytes = reply_with(pattern(size));
    const std::size_t whole = bytes.size();
    bytes.resize(whole + 100);
    StartupReader reader(FrameKind::kReply);
    EXPECT_EQ(reader.feed(bytes).value(), whole);
    ASSERT_TRUE(reader.complete());
    EXPECT_EQ(to_bytes(reader.frame().private_data()), pattern(size));
    EXPECT_EQ(reader.feed(bytes).value(), 0U);
  }
}

TEST(StartupReader, TakesAFrameInAnyTwoPieces) {
  const Bytes bytes = reply_with(pattern(30));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    StartupReader reader(FrameKind::kReply);
    const ExactBuffer first(ConstBytes(bytes).first(cut)), second(ConstBytes(bytes).subspan(cut));
    EXPECT_EQ(reader.feed(first.span()).value(), cut);
    EXPECT_EQ(reader.complete(), cut == bytes.size());
    EXPECT_EQ(reader.feed(second.span()).value(), bytes.size() - cut);
    EXPECT_TRUE(reader.complete());
  }
}

TEST(StartupReader, TakesAFrameOctetByOctet) {
  const Bytes bytes = reply_with(pattern(508));
  StartupReader reader(FrameKind::kReply);
  for (const std::byte& octet : bytes) {
    EXPECT_FALSE(reader.complete());
    EXPECT_EQ(reader.feed({&octet, 1}).value(), 1U);
  }
  EXPECT_TRUE(reader.complete());
}

TEST(StartupReader, IsNeverCompleteAfterAnError) {
  Bytes bytes = reply_with({});
  bytes[18] = std::byte{0xFF};  // PD_Length
  StartupReader reader(FrameKind::kReply);
  const auto fed = reader.feed(ConstBytes(bytes).first(kStartupHeaderSize));
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error(), Error::kPrivateDataTooLong);
  EXPECT_FALSE(reader.complete());
}

TEST(StartupReader, ErrorDoesNotDependOnTheSegmentation) {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = reply_with(pattern(3));
    for (std::size_t flips = random.between(1, 3); flips > 0; --flips) {
      bytes[random.between(0, 19)] ^= static_cast<std::byte>(1U << random.between(0, 7));
    }
    StartupReader whole(FrameKind::kReply), single(FrameKind::kReply);
    const auto at_once = whole.feed(bytes);
    std::optional<Error> bit_by_bit;
    for (const std::byte& octet : bytes) {
      const auto fed = single.feed({&octet, 1});
      if (fed) continue;
      bit_by_bit = fed.error();
      break;
    }
    ASSERT_EQ(bit_by_bit.has_value(), !at_once.has_value());
    if (bit_by_bit) {
      ASSERT_EQ(*bit_by_bit, at_once.error());
    }
  }
}

}  // namespace
}  // namespace iwarp::mpa::test
