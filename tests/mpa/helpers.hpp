#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/gather_list.hpp"
#include "iwarp/mpa/deframer.hpp"
#include "iwarp/mpa/startup_frame.hpp"
#include "support/random.hpp"
#include "support/vectors.hpp"

namespace iwarp::mpa::test {

using iwarp::test::Bytes;
using iwarp::test::from_hex;

inline constexpr Crc kCrcs[] = {Crc::kOff, Crc::kOn};
inline constexpr Markers kMarkersChoices[] = {Markers::kOff, Markers::kOn};

/// A heap block of exactly the given bytes, so that AddressSanitizer sees each step outside.
class ExactBuffer {
 public:
  explicit ExactBuffer(ConstBytes bytes) : size_(bytes.size()), data_(new std::byte[size_]) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = bytes[i];
  }
  [[nodiscard]] MutableBytes span() const { return {data_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> data_;
};

inline Bytes encoded(const StartupFrame& frame) {
  Bytes bytes(frame.size());
  EXPECT_EQ(frame.encode(bytes).value(), bytes.size());
  return bytes;
}

inline Bytes flatten(const GatherList& list) {
  Bytes bytes(list.size());
  list.extract(0, bytes);
  return bytes;
}

inline Bytes to_bytes(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

/// `size` bytes that differ from their neighbours and depend on `seed`.
inline Bytes pattern(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 131U + (i >> 8U) * 7U + seed * 29U) & 0xFFU);
  }
  return bytes;
}

/// The shared source of numbers, for sizes and choices.
class Random : public iwarp::test::Random {
 public:
  using iwarp::test::Random::Random;
  /// From `low` to `high`, both possible; less than 2^32.
  std::size_t between(std::size_t low, std::size_t high) {
    return iwarp::test::Random::between(static_cast<std::uint32_t>(low),
                                        static_cast<std::uint32_t>(high));
  }
  template <typename T, std::size_t kSize>
  T pick(const T (&choices)[kSize]) {
    return choices[below(kSize)];
  }
};

}  // namespace iwarp::mpa::test
