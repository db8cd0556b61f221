#pragma once

#include <cstddef>
#include <cstdint>

#include "iwarp/base/bytes.hpp"

namespace iwarp::test {

/// A seeded source of numbers that gives the same ones with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1U) {}

  std::uint64_t word() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  std::uint32_t word32() { return static_cast<std::uint32_t>(word()); }
  std::uint8_t octet() { return static_cast<std::uint8_t>(word()); }
  /// From 0 to `bound` - 1. Precondition: bound != 0.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(word() % bound); }
  /// From `low` to `high`, both possible.
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + below(high - low + 1U);
  }
  /// True once in `n` times on average.
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  void fill(MutableBytes bytes) {
    for (std::byte& b : bytes) b = std::byte(octet());
  }

 private:
  std::uint64_t state_;
};

}  // namespace iwarp::test
