#include "iwarp/rdmap/atomic.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace iwarp::rdmap {
namespace {

// Bit by bit, as RFC 7306 §5.1.1 defines it.
std::uint64_t add_bit_by_bit(std::uint64_t a, std::uint64_t b, std::uint64_t boundaries) {
  std::uint64_t result = 0;
  std::uint64_t carry = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t sum = carry + (a >> bit & 1U) + (b >> bit & 1U);
    result |= (sum & 1U) << bit;
    carry = (boundaries >> bit & 1U) != 0 ? 0 : sum >> 1U;
  }
  return result;
}

TEST(FetchAdd, WithoutAMaskAddsSixtyFourBits) {
  EXPECT_EQ(apply(AtomicOpcode::kFetchAdd, {5, 0, 0, 0}, 37), 42U);
  EXPECT_EQ(apply(AtomicOpcode::kFetchAdd, {1, 0, 0, 0}, UINT64_MAX), 0U);
}

TEST(FetchAdd, LosesTheCarryOfEachField) {
  // Two fields of 32 bits.
  const AtomicOperands operands{0x00000001'00000001, 0x80000000'80000000, 0, 0};
  EXPECT_EQ(apply(AtomicOpcode::kFetchAdd, operands, 0x00000007'FFFFFFFF), 0x00000008'00000000U);
  EXPECT_EQ(apply(AtomicOpcode::kFetchAdd, operands, 0xFFFFFFFF'00000001), 0x00000000'00000002U);
}

TEST(FetchAdd, IsTheBitwiseDefinitionForAnyMask) {
  std::mt19937_64 random(7306);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t original = random();
    const AtomicOperands operands{random(), random() & random(), random(), random()};
    ASSERT_EQ(apply(AtomicOpcode::kFetchAdd, operands, original),
              add_bit_by_bit(original, operands.data, operands.mask))
        << std::hex << original << " + " << operands.data << " by " << operands.mask;
  }
}

TEST(CmpSwap, SwapsTheMaskedBitsIfTheMaskedBitsAreEqual) {  // RFC 7306 §5.1.2
  const AtomicOperands operands{0x1111, 0x00FF, 0x12FF, 0xFF00};
  EXPECT_EQ(apply(AtomicOpcode::kCmpSwap, operands, 0x1234), 0x1211U);
  EXPECT_EQ(apply(AtomicOpcode::kCmpSwap, operands, 0x1334), 0x1334U);
}

TEST(CmpSwap, WithoutACompareMaskSwapsAlways) {
  EXPECT_EQ(apply(AtomicOpcode::kCmpSwap, {9, UINT64_MAX, 1, 0}, 77), 9U);
}

TEST(AtomicOperation, ReturnsTheOriginalAndIsIndivisible) {
  alignas(kAtomicSize) std::byte word[kAtomicSize]{};
  constexpr int kRounds = 20000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&word] {
      for (int n = 0; n < kRounds; ++n)
        ASSERT_TRUE(perform(AtomicOpcode::kFetchAdd, {1, 0, 0, 0}, word));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*perform(AtomicOpcode::kCmpSwap, {5, UINT64_MAX, 0, 0}, word), 3U * kRounds);
  EXPECT_EQ(*perform(AtomicOpcode::kFetchAdd, {0, 0, 0, 0}, word), 5U);
}

AtomicRequest example() {
  return {2,
          0x01020304,
          Stag{0x05060708},
          TaggedOffset{0x090A0B0C0D0E0F10},
          {0x1112131415161718, 0x191A1B1C1D1E1F20, 0x2122232425262728, 0x292A2B2C2D2E2F30}};
}

TEST(AtomicRequest, LiesOnTheWireAsInFigure4) {
  std::byte bytes[AtomicRequest::kSize];
  example().encode(bytes);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(bytes[i], i == 3 ? std::byte{2} : std::byte{0});
  for (std::size_t i = 4; i < sizeof bytes; ++i) EXPECT_EQ(bytes[i], std::byte(i - 3)) << i;
}

TEST(AtomicRequest, ComesBackFromTheWire) {
  std::byte bytes[AtomicRequest::kSize];
  example().encode(bytes);
  EXPECT_EQ(AtomicRequest::parse(bytes), example());
}

TEST(AtomicRequest, IgnoresItsReservedBits) {
  std::byte bytes[AtomicRequest::kSize];
  example().encode(bytes);
  bytes[0] = bytes[1] = bytes[2] = std::byte{0xFF};
  bytes[3] |= std::byte{0xF0};
  EXPECT_EQ(AtomicRequest::parse(bytes), example());
}

TEST(AtomicRequest, KnowsTheOperationsOfFigure5Only) {
  AtomicRequest request;
  for (std::uint8_t opcode = 0; opcode < 16; ++opcode) {
    request.opcode = opcode;
    EXPECT_EQ(request.operation().has_value(), opcode == 0 || opcode == 2) << unsigned{opcode};
  }
}

TEST(AtomicRequest, HasExactlyItsSize) {
  const std::byte bytes[AtomicRequest::kSize + 1]{};
  for (std::size_t size = 0; size <= sizeof bytes; ++size) {
    EXPECT_EQ(AtomicRequest::parse(ConstBytes(bytes, size)).has_value(),
              size == AtomicRequest::kSize);
  }
}

TEST(AtomicResponse, LiesOnTheWireAsInFigure6) {
  std::byte bytes[AtomicResponse::kSize];
  const AtomicResponse response{0x01020304, 0x05060708090A0B0C};
  response.encode(bytes);
  for (std::size_t i = 0; i < sizeof bytes; ++i) EXPECT_EQ(bytes[i], std::byte(i + 1)) << i;
  EXPECT_EQ(AtomicResponse::parse(bytes), response);
}

TEST(AtomicResponse, HasExactlyItsSize) {
  const std::byte bytes[AtomicResponse::kSize + 1]{};
  for (std::size_t size = 0; size <= sizeof bytes; ++size) {
    EXPECT_EQ(AtomicResponse::parse(ConstBytes(bytes, size)).has_value(),
              size == AtomicResponse::kSize);
  }
}

}  // namespace
}  // namespace iwarp::rdmap
