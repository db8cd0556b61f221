#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

#include "iwarp/base/bytes.hpp"

namespace iwarp::cli::file_service {

/// Page-aligned memory, zeroed, which goes back to the system at once when it is destroyed.
class PageBuffer {
 public:
  PageBuffer() = default;
  /// Throws std::bad_alloc. Precondition: size > 0.
  explicit PageBuffer(std::size_t size) : size_(size) {
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(memory);
  }
  PageBuffer(PageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PageBuffer() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  [[nodiscard]] MutableBytes bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace iwarp::cli::file_service
