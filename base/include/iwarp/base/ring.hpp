#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace iwarp {

/// What cuts a position down to a place, of a ring with at least `least` of them: a power of two.
constexpr std::uint32_t ring_mask(std::uint32_t least) {
  return std::bit_ceil(std::max(least, 1U)) - 1U;
}

/// Elements that positions name, which count up freely modulo 2^32: as many in a row as there are
/// places may be used at once. Allocates only when it is made. Not thread-safe in itself: see
/// RingPosition.
template <typename T>
class Ring {
 public:
  /// With at least `least` places: a power of two.
  explicit Ring(std::uint32_t least) : mask_(ring_mask(least)), elements_(new T[size()]) {}

  /// The element at a position.
  T& operator[](std::uint32_t position) { return elements_[place(position)]; }
  /// The same.
  const T& operator[](std::uint32_t position) const { return elements_[place(position)]; }

  /// Where a position lies, below size(): for what an owner keeps beside the elements.
  [[nodiscard]] std::size_t place(std::uint32_t position) const { return position & mask_; }
  /// How many places there are.
  [[nodiscard]] std::size_t size() const { return std::size_t{mask_} + 1; }

 private:
  std::uint32_t mask_;
  std::unique_ptr<T[]> elements_;
};

/// The same of lists that are equally long. `T` is not initialised if it need not be.
template <typename T>
class RingOfLists {
 public:
  /// For at least `least` lists of `length` elements.
  RingOfLists(std::uint32_t least, std::uint32_t length)
      : mask_(ring_mask(least)),
        length_(length),
        elements_(new T[(std::size_t{mask_} + 1) * length]) {}

  /// The list at a position.
  [[nodiscard]] std::span<T> operator[](std::uint32_t position) const {
    return {elements_.get() + std::size_t{position & mask_} * length_, length_};
  }

 private:
  std::uint32_t mask_, length_;
  std::unique_ptr<T[]> elements_;
};

/// The end of a ring that one thread at a time moves on, while others look where it is: what that
/// thread did before is done for those that see it moved.
class RingPosition {
 public:
  /// For the thread that moves it, and for those that need no element behind it.
  [[nodiscard]] std::uint32_t own() const { return position_.load(std::memory_order_relaxed); }
  /// For others.
  [[nodiscard]] std::uint32_t seen() const { return position_.load(std::memory_order_acquire); }
  /// By the thread that moves it.
  void move_to(std::uint32_t position) { position_.store(position, std::memory_order_release); }
  /// To the next one; likewise.
  void advance() { move_to(own() + 1U); }

 private:
  std::atomic<std::uint32_t> position_{0};
};

}  // namespace iwarp
