#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "iwarp/base/bytes.hpp"

namespace iwarp::test {

/// Memory with canaries on both sides; the memory starts at a chosen distance from a multiple
/// of 16.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t size, std::size_t misalignment = 0)
      : size_(size), all_(kGuard + misalignment + size + kGuard + kAlignment, kCanary) {
    const std::size_t at = reinterpret_cast<std::uintptr_t>(all_.data()) % kAlignment;
    start_ = kGuard + (kAlignment - at) % kAlignment + misalignment;
    fill(std::byte{0});
  }

  [[nodiscard]] std::byte* data() { return all_.data() + start_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] MutableBytes bytes() { return {data(), size_}; }
  [[nodiscard]] ConstBytes bytes() const { return {all_.data() + start_, size_}; }
  void fill(std::byte value) { std::fill_n(data(), size_, value); }

  /// Whether nobody wrote beside the memory.
  [[nodiscard]] bool intact() const {
    const auto is_canary = [](std::byte b) { return b == kCanary; };
    const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(start_);
    return std::all_of(all_.begin(), begin, is_canary) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(size_), all_.end(), is_canary);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::size_t kAlignment = 16;
  static constexpr std::byte kCanary{0xC7};

  std::size_t size_;
  std::vector<std::byte> all_;
  std::size_t start_ = 0;
};

}  // namespace iwarp::test
