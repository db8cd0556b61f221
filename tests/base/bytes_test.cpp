#include "iwarp/base/bytes.hpp"

#include <gtest/gtest.h>

#include <array>

namespace iwarp {
namespace {

template <typename T>
class ByteOrder : public testing::Test {};
using Integers = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ByteOrder, Integers);

// Octets 0x01, 0x02, ... as a number, the first octet most significant.
template <typename T>
T counting_value() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = value << 8U | (i + 1);
  return static_cast<T>(value);
}

constexpr std::size_t kRoom = 24;

TYPED_TEST(ByteOrder, BigEndianPutsTheMostSignificantOctetFirstAtAnyAlignment) {
  for (std::size_t at = 0; at < 8; ++at) {
    std::array<std::byte, kRoom> room{};
    store_be(room.data() + at, counting_value<TypeParam>());
    for (std::size_t i = 0; i < kRoom; ++i) {
      const bool inside = i >= at && i < at + sizeof(TypeParam);
      EXPECT_EQ(std::to_integer<std::size_t>(room[i]), inside ? i - at + 1 : 0U);
    }
    EXPECT_EQ(load_be<TypeParam>(room.data() + at), counting_value<TypeParam>());
  }
}

TYPED_TEST(ByteOrder, LittleEndianPutsTheMostSignificantOctetLastAtAnyAlignment) {
  for (std::size_t at = 0; at < 8; ++at) {
    std::array<std::byte, kRoom> room{};
    store_le(room.data() + at, counting_value<TypeParam>());
    for (std::size_t i = 0; i < kRoom; ++i) {
      const bool inside = i >= at && i < at + sizeof(TypeParam);
      EXPECT_EQ(std::to_integer<std::size_t>(room[i]), inside ? at + sizeof(TypeParam) - i : 0U);
    }
    EXPECT_EQ(load_le<TypeParam>(room.data() + at), counting_value<TypeParam>());
  }
}

TYPED_TEST(ByteOrder, KeepsTheExtremes) {
  std::array<std::byte, 8> room{};
  for (const TypeParam value : {TypeParam{0}, static_cast<TypeParam>(~TypeParam{0})}) {
    store_be(room.data(), value);
    EXPECT_EQ(load_be<TypeParam>(room.data()), value);
    EXPECT_EQ(load_le<TypeParam>(room.data()), value);
  }
}

TEST(PadTo4, CompletesAMultipleOfFourWithLessThanFour) {
  for (std::size_t length = 0; length < 64; ++length) {
    EXPECT_EQ((length + pad_to_4(length)) % 4, 0U);
    EXPECT_LT(pad_to_4(length), 4U);
  }
}

}  // namespace
}  // namespace iwarp
