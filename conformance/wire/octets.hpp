#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The tester's own view of the wire. Nothing here is shared with the stack under test, so that a
/// mistake of its encoders cannot hide in the tester's.
namespace iwarp::conform {

using Octets = std::vector<std::uint8_t>;
using OctetView = std::span<const std::uint8_t>;

inline void put16(Octets& out, std::uint16_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}
inline void put32(Octets& out, std::uint32_t value) {
  put16(out, static_cast<std::uint16_t>(value >> 16));
  put16(out, static_cast<std::uint16_t>(value));
}
inline void put64(Octets& out, std::uint64_t value) {
  put32(out, static_cast<std::uint32_t>(value >> 32));
  put32(out, static_cast<std::uint32_t>(value));
}
inline void put(Octets& out, OctetView octets) {
  out.insert(out.end(), octets.begin(), octets.end());
}

/// Big-endian numbers. The caller has made sure that `offset` and the octets behind it exist.
inline std::uint16_t get16(OctetView from, std::size_t offset) {
  return static_cast<std::uint16_t>(from[offset] << 8 | from[offset + 1]);
}
inline std::uint32_t get32(OctetView from, std::size_t offset) {
  return std::uint32_t{get16(from, offset)} << 16 | get16(from, offset + 2);
}
inline std::uint64_t get64(OctetView from, std::size_t offset) {
  return std::uint64_t{get32(from, offset)} << 32 | get32(from, offset + 4);
}

inline Octets octets(std::string_view text) { return {text.begin(), text.end()}; }
/// `size` octets that differ from their neighbours and, by `seed`, from other patterns.
Octets pattern(std::size_t size, std::uint8_t seed = 1);

std::string to_hex(OctetView octets);
std::string count_of(std::size_t octets);  ///< "1 octet", "2 octets"
/// "0x" and `digits` hexadecimal digits.
std::string hex_number(std::uint64_t value, int digits);
/// Empty and false for text that is not pairs of hexadecimal digits.
bool from_hex(std::string_view text, Octets& out);

}  // namespace iwarp::conform
