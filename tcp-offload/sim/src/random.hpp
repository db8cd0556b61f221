#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "iwarp/sim/options.hpp"

namespace iwarp::tcp_offload::sim {

/// A small generator with the same numbers on every platform: a Weyl sequence through a mixing
/// function.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    return mix(state_);
  }

  /// A number in [0, bound); `bound` is not 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// A size of the range. A range of one size costs no number.
  std::size_t pick(const SimRange& range) {
    if (range.min >= range.max) return range.min;
    const std::uint64_t width = range.max - range.min;
    if (width == std::numeric_limits<std::uint64_t>::max()) return next();
    return range.min + below(width + 1);
  }

  /// Spreads `value` over 64 bits.
  static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace iwarp::tcp_offload::sim
