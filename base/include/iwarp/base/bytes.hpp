#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace iwarp {

/// Octets to be read, owned elsewhere.
using ConstBytes = std::span<const std::byte>;
/// Octets that may be changed, owned elsewhere.
using MutableBytes = std::span<std::byte>;

namespace detail {

template <typename T>
constexpr T byte_swap(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__builtin_bswap16(value));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__builtin_bswap32(value));
  } else {
    static_assert(sizeof(T) == 8);
    return static_cast<T>(__builtin_bswap64(value));
  }
}

template <std::endian kOrder, typename T>
constexpr T to_order(T value) {
  return std::endian::native == kOrder ? value : byte_swap(value);
}

}  // namespace detail

/// Loads an unsigned integer in network byte order. `at` points to at least sizeof(T) bytes, at any
/// alignment.
template <typename T>
  requires std::is_unsigned_v<T> T load_be(const std::byte* at) {
    T raw;
    std::memcpy(&raw, at, sizeof raw);
    return detail::to_order<std::endian::big>(raw);
  }

/// Stores an unsigned integer in network byte order at any alignment.
template <typename T>
  requires std::is_unsigned_v<T>
void store_be(std::byte* at, T value) {
  const T raw = detail::to_order<std::endian::big>(value);
  std::memcpy(at, &raw, sizeof raw);
}

/// Loads an unsigned integer, least significant byte first.
template <typename T>
  requires std::is_unsigned_v<T> T load_le(const std::byte* at) {
    T raw;
    std::memcpy(&raw, at, sizeof raw);
    return detail::to_order<std::endian::little>(raw);
  }

/// Stores an unsigned integer, least significant byte first.
template <typename T>
  requires std::is_unsigned_v<T>
void store_le(std::byte* at, T value) {
  const T raw = detail::to_order<std::endian::little>(value);
  std::memcpy(at, &raw, sizeof raw);
}

/// The number of zero octets that round `length` up to a multiple of four.
constexpr std::size_t pad_to_4(std::size_t length) { return (4U - length % 4U) % 4U; }

}  // namespace iwarp
