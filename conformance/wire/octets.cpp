#include "wire/octets.hpp"

namespace iwarp::conform {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

Octets pattern(std::size_t size, std::uint8_t seed) {
  Octets out(size);
  std::uint32_t state = 0x9E3779B9U * (seed + 1U);
  for (auto& octet : out) {
    state = state * 1664525U + 1013904223U;
    octet = static_cast<std::uint8_t>(state >> 24);
  }
  return out;
}

std::string to_hex(OctetView octets) {
  std::string text;
  text.reserve(octets.size() * 2);
  for (const std::uint8_t octet : octets) {
    text += kDigits[octet >> 4];
    text += kDigits[octet & 15];
  }
  return text;
}

std::string count_of(std::size_t octets) {
  return std::to_string(octets) + (octets == 1 ? " octet" : " octets");
}

std::string hex_number(std::uint64_t value, int digits) {
  std::string text = "0x";
  for (int i = digits - 1; i >= 0; --i) text += kDigits[value >> (4 * i) & 15];
  return text;
}

bool from_hex(std::string_view text, Octets& out) {
  out.clear();
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = value_of(text[i]), low = value_of(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return true;
}

}  // namespace iwarp::conform
