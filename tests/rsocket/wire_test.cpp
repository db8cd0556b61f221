#include "wire/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace iwarp::rsocket {
namespace {

const Hello kHello{.ring_address = 0x0102030405060708,
                   .ring_length = 65536,
                   .ring_key = 0xa1b2c3d4,
                   .messages = 384};

std::vector<std::byte> octets_of(const Hello& hello) {
  const auto octets = hello.encode();
  return {octets.begin(), octets.end()};
}

HelloError error_of(ConstBytes bytes) {
  const auto hello = Hello::parse(bytes);
  EXPECT_FALSE(hello);
  return hello.error();
}

TEST(RsocketHello, SurvivesTheWire) {
  const auto parsed = Hello::parse(kHello.encode());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, kHello);
}

TEST(RsocketHello, MayBePadded) {
  auto octets = octets_of(kHello);
  octets.resize(196, std::byte{0x55});
  const auto parsed = Hello::parse(octets);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, kHello);
}

TEST(RsocketHello, IsInNetworkByteOrder) {
  const auto octets = kHello.encode();
  EXPECT_EQ(octets[0], std::byte{'i'});
  EXPECT_EQ(octets[3], std::byte{'S'});
  EXPECT_EQ(octets[8], std::byte{0x01});
  EXPECT_EQ(octets[15], std::byte{0x08});
}

TEST(RsocketHello, OfAnotherProtocolIsForeign) {
  auto octets = octets_of(kHello);
  octets[0] = std::byte{0};
  EXPECT_EQ(error_of(octets), HelloError::kForeign);
  EXPECT_EQ(error_of({}), HelloError::kForeign);
}

TEST(RsocketHello, OfAnotherVersionIsToldApart) {
  auto octets = octets_of(kHello);
  octets[4] = std::byte{kVersion + 1};
  EXPECT_EQ(error_of(octets), HelloError::kOtherVersion);
}

TEST(RsocketHello, CutShortIsMalformed) {
  const auto octets = octets_of(kHello);
  EXPECT_EQ(error_of(ConstBytes(octets).first(Hello::kSize - 1)), HelloError::kMalformed);
}

TEST(RsocketHello, WithImpossibleNumbersIsMalformed) {
  Hello small = kHello, silent = kHello, wrapping = kHello;
  small.ring_length = kMinRing - 1;
  silent.messages = kMinMessages - 1;
  wrapping.ring_address = ~std::uint64_t{0};
  for (const Hello& each : {small, silent, wrapping})
    EXPECT_EQ(error_of(octets_of(each)), HelloError::kMalformed);
}

TEST(RsocketRefusal, TellsAnotherVersionFromOursAndFromOthers) {
  auto refusal = Refusal::encode();
  EXPECT_FALSE(Refusal::means_other_version(refusal));
  refusal[4] = std::byte{kVersion + 1};
  EXPECT_TRUE(Refusal::means_other_version(refusal));
  refusal[0] = std::byte{0};
  EXPECT_FALSE(Refusal::means_other_version(refusal));
  EXPECT_FALSE(Refusal::means_other_version({}));
}

Message message_of(MessageType type) {
  Message message{.type = type, .granted = 1ULL << 40, .released = 1ULL << 50, .length = 77};
  if (type == MessageType::kMap || type == MessageType::kUnmap) {
    message.offset = 0x1122334455667788;
    message.address = 0x99aabbccddeeff00;
    message.key = 0xdeadbeef;
  }
  return message;
}

class EveryMessage : public testing::TestWithParam<MessageType> {};

TEST_P(EveryMessage, SurvivesTheWire) {
  const Message message = message_of(GetParam());
  std::vector<std::byte> octets(message.size(), std::byte{0xff});
  message.encode(octets);
  const auto parsed = parse_message(octets);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, message);
}

TEST_P(EveryMessage, CutShortIsTruncated) {
  const Message message = message_of(GetParam());
  std::vector<std::byte> octets(message.size());
  message.encode(octets);
  octets.pop_back();
  const auto parsed = parse_message(octets);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error(), MessageError::kTruncated);
}

INSTANTIATE_TEST_SUITE_P(RsocketMessage, EveryMessage,
                         testing::Values(MessageType::kCredit, MessageType::kData,
                                         MessageType::kMap, MessageType::kUnmap,
                                         MessageType::kFin));

TEST(RsocketMessage, OfUnknownTypeIsRefused) {
  std::vector<std::byte> octets(Message::kMaxSize);
  for (const int type : {0, 6, 255}) {
    octets[0] = static_cast<std::byte>(type);
    const auto parsed = parse_message(octets);
    ASSERT_FALSE(parsed) << type;
    EXPECT_EQ(parsed.error(), MessageError::kUnknownType);
  }
}

}  // namespace
}  // namespace iwarp::rsocket
