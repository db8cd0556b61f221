#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "iwarp/base/bytes.hpp"

/// What the fuzz targets share: a reader that makes choices out of a fuzzer's octets, and claims.
namespace iwarp::fuzz {

/// Ends the program if `holds` is false: that is how a finding is told to the fuzzer.
inline void require(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", claim);
  std::abort();
}

/// The input of one run. Reading past its end gives zeros, so that every input means something.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const std::byte*>(data), size) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::size_t size() const { return rest_.size(); }

  /// An integer, most significant octet first.
  template <typename T>
  T number() {
    const ConstBytes octets = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = value << 8U | (i < octets.size() ? std::to_integer<unsigned>(octets[i]) : 0U);
    }
    return static_cast<T>(value);
  }
  std::uint8_t octet() { return number<std::uint8_t>(); }
  std::uint16_t word16() { return number<std::uint16_t>(); }
  std::uint32_t word32() { return number<std::uint32_t>(); }
  std::uint64_t word64() { return number<std::uint64_t>(); }

  /// At most `size` octets; fewer at the end.
  ConstBytes take(std::size_t size) {
    const ConstBytes taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  /// As many octets as the next one says.
  ConstBytes chunk() { return take(octet()); }
  ConstBytes rest() { return take(rest_.size()); }

  /// One of a list of values.
  template <typename T, std::size_t kSize>
  T pick(const T (&choices)[kSize]) {
    return choices[octet() % kSize];
  }

 private:
  ConstBytes rest_;
};

/// A set of yes-or-no choices in one octet, taken lowest bit first.
class Choices {
 public:
  explicit Choices(std::uint8_t bits) : bits_(bits) {}
  bool next() {
    const bool chosen = (bits_ & 1U) != 0;
    bits_ = static_cast<std::uint8_t>(bits_ >> 1U);
    return chosen;
  }
  template <typename T>
  T next(T no, T yes) {
    return next() ? yes : no;
  }

 private:
  std::uint8_t bits_;
};

/// A heap block of exactly the given octets, so that AddressSanitizer sees each step outside.
class Exact {
 public:
  explicit Exact(ConstBytes bytes) : size_(bytes.size()), data_(new std::byte[size_]) {
    std::copy(bytes.begin(), bytes.end(), data_);
  }
  ~Exact() { delete[] data_; }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  [[nodiscard]] MutableBytes bytes() const { return {data_, size_}; }

 private:
  std::size_t size_;
  std::byte* data_;
};

/// Octet by octet it would take most of a fuzzer's time.
inline bool equal(ConstBytes a, ConstBytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace iwarp::fuzz
