#include "iwarp/base/crc32c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "support/random.hpp"

namespace iwarp {
namespace {

using test::Random;
using Bytes = std::vector<std::byte>;

// Bit by bit from the definition: the reflected polynomial of RFC 5044 §4.4's CRC.
std::uint32_t slow_crc32c(ConstBytes bytes, std::uint32_t of_those_before = 0) {
  std::uint32_t crc = ~of_those_before;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

Bytes random_bytes(std::size_t size) {
  Bytes bytes(size);
  Random random(size);
  random.fill(bytes);
  return bytes;
}

std::uint32_t in_pieces(ConstBytes bytes, Random& random, std::uint32_t most) {
  Crc32c crc;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(random.below(most + 1), bytes.size());
    crc.update(bytes.first(size));
    bytes = bytes.subspan(size);
  }
  return crc.value();
}

// The examples of RFC 3720, appendix B.4.
TEST(Crc32c, OfThirtyTwoZeros) { EXPECT_EQ(crc32c(Bytes(32)), 0x8A9136AAU); }

TEST(Crc32c, OfThirtyTwoOnes) { EXPECT_EQ(crc32c(Bytes(32, std::byte{0xFF})), 0x62A8AB43U); }

TEST(Crc32c, OfAscendingOctets) {
  Bytes bytes;
  for (unsigned i = 0; i < 32; ++i) bytes.push_back(std::byte(i));
  EXPECT_EQ(crc32c(bytes), 0x46DD794EU);
  std::reverse(bytes.begin(), bytes.end());
  EXPECT_EQ(crc32c(bytes), 0x113FDB5CU);
}

TEST(Crc32c, OfAnIscsiReadCommand) {
  constexpr std::array<unsigned char, 48> kPdu{
      0x01, 0xC0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0,
      0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0,    0};
  EXPECT_EQ(crc32c(std::as_bytes(std::span(kPdu))), 0xD9963A56U);
}

TEST(Crc32c, OfTheCheckString) {
  constexpr std::string_view kCheck = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(kCheck))), 0xE3069283U);
}

TEST(Crc32c, OfNothingIsZero) {
  EXPECT_EQ(crc32c({}), 0U);
  Crc32c crc;
  crc.update({});
  EXPECT_EQ(crc.value(), 0U);
}

// Each way to take it, as sizes have it: by the instruction, the library, or in vector registers.
TEST(Crc32c, EqualsTheDefinitionForEverySizeAtEveryAlignment) {
  constexpr std::size_t kMost = 2500;
  const Bytes bytes = random_bytes(64 + kMost);
  for (std::size_t at = 0; at < 64; ++at) {
    std::uint32_t expected = 0;
    for (std::size_t size = 0; size <= kMost; ++size) {
      const ConstBytes piece = ConstBytes(bytes).subspan(at, size);
      ASSERT_EQ(crc32c(piece), expected) << size << " octets at " << at;
      expected = slow_crc32c(ConstBytes(bytes).subspan(at + size, 1), expected);
    }
  }
}

TEST(Crc32c, EqualsTheDefinitionForLongRanges) {
  for (const std::size_t size : {1447U, 4096U, 64768U, 65535U, 262144U, 1000003U}) {
    const Bytes bytes = random_bytes(size);
    EXPECT_EQ(crc32c(bytes), slow_crc32c(bytes)) << size;
  }
}

TEST(Crc32c, OfAnyTwoPiecesEqualsThatOfTheWhole) {
  const Bytes bytes = random_bytes(700);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Crc32c crc;
    crc.update(ConstBytes(bytes).first(cut));
    crc.update(ConstBytes(bytes).subspan(cut));
    ASSERT_EQ(crc.value(), whole) << "cut at " << cut;
  }
}

// Short pieces take the loop over the instruction, others the library or vector registers: any
// mixture must agree.
TEST(Crc32c, OfPiecesAroundTheInlineLimitEqualsThatOfTheWhole) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Bytes bytes = random_bytes(random.below(3000));
    const std::uint32_t whole = slow_crc32c(bytes);
    ASSERT_EQ(in_pieces(bytes, random, 8), whole);
    ASSERT_EQ(in_pieces(bytes, random, 330), whole);
    ASSERT_EQ(in_pieces(bytes, random, 1400), whole);
  }
}

TEST(Crc32c, ValueMayBeReadMidway) {
  const Bytes bytes = random_bytes(100);
  Crc32c crc;
  crc.update(ConstBytes(bytes).first(40));
  EXPECT_EQ(crc.value(), crc32c(ConstBytes(bytes).first(40)));
  crc.update(ConstBytes(bytes).subspan(40));
  EXPECT_EQ(crc.value(), crc32c(bytes));
}

}  // namespace
}  // namespace iwarp
