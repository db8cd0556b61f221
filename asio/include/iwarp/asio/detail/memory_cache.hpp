#pragma once

#include <cstddef>

#include "iwarp/base/export.hpp"

namespace iwarp::asio::detail {

/// Memory for operations: each thread keeps a few blocks that it has given back, so that a loop of
/// operations allocates nothing. Any thread may give back what another took.
IWARP_API void* take_memory(std::size_t size);
IWARP_API void give_memory_back(void* memory, std::size_t size) noexcept;

/// The allocator over it.
template <typename T>
class memory_cache_allocator {
 public:
  using value_type = T;

  memory_cache_allocator() = default;
  template <typename U>
  memory_cache_allocator(const memory_cache_allocator<U>&) noexcept {}  // as allocators convert

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(take_memory(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    give_memory_back(memory, count * sizeof(T));
  }

  friend bool operator==(const memory_cache_allocator&, const memory_cache_allocator&) = default;
};

template <>
class memory_cache_allocator<void> {
 public:
  using value_type = void;

  memory_cache_allocator() = default;
  template <typename U>
  memory_cache_allocator(const memory_cache_allocator<U>&) noexcept {}

  friend bool operator==(const memory_cache_allocator&, const memory_cache_allocator&) = default;
};

}  // namespace iwarp::asio::detail
