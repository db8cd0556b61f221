#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "iwarp/base/bytes.hpp"

namespace iwarp::cli::perf {

/// Page-aligned memory, filled with zeros and thereby present. Throws std::bad_alloc.
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : memory_(static_cast<std::byte*>(::operator new(size, kAlignment))), size_(size) {
    std::memset(memory_.get(), 0, size);
  }

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] MutableBytes bytes() const { return {memory_.get(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{4096};
  struct Delete {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<std::byte, Delete> memory_;
  std::size_t size_;
};

}  // namespace iwarp::cli::perf
