#include "wire/crc32c.hpp"

#include <array>

namespace iwarp::conform {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82F63B78U;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t remainder = i;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = remainder >> 1 ^ (remainder & 1 ? kReflectedPolynomial : 0);
    }
    table[i] = remainder;
  }
  return table;
}
constexpr auto kTable = make_table();

}  // namespace

void Crc32c::add(OctetView octets) {
  for (const std::uint8_t octet : octets) state_ = state_ >> 8 ^ kTable[(state_ ^ octet) & 0xFF];
}

std::uint32_t crc32c(OctetView octets) {
  Crc32c crc;
  crc.add(octets);
  return crc.value();
}

}  // namespace iwarp::conform
