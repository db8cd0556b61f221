#include "iwarp/asio/detail/memory_cache.hpp"

#include <array>
#include <new>

#include "iwarp/base/of_thread.hpp"

namespace iwarp::asio::detail {
namespace {

constexpr std::size_t kStep = 128;   // Sizes are multiples of this.
constexpr std::size_t kClasses = 8;  // Larger blocks are not kept.
constexpr std::size_t kKept = 16;    // Blocks of each size.

constexpr std::size_t class_of(std::size_t size) { return (size + kStep - 1) / kStep; }

class block_cache {
 public:
  block_cache() = default;
  block_cache(const block_cache&) = delete;
  block_cache& operator=(const block_cache&) = delete;
  ~block_cache() {
    for (shelf_of_blocks& shelf : shelves_) {
      while (shelf.count != 0) ::operator delete(shelf.blocks[--shelf.count]);
    }
  }

  void* take(std::size_t size) {
    const std::size_t number = class_of(size);
    if (number >= kClasses) return ::operator new(size);
    shelf_of_blocks& shelf = shelves_[number];
    if (shelf.count != 0) return shelf.blocks[--shelf.count];
    return ::operator new(number* kStep);
  }

  void give_back(void* memory, std::size_t size) noexcept {
    const std::size_t number = class_of(size);
    if (number < kClasses && shelves_[number].count < kKept) {
      shelves_[number].blocks[shelves_[number].count++] = memory;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  struct shelf_of_blocks {
    std::array<void*, kKept> blocks;
    std::size_t count = 0;
  };
  std::array<shelf_of_blocks, kClasses> shelves_{};
};

}  // namespace

void* take_memory(std::size_t size) { return OfThread<block_cache>::get().take(size); }

// Operations may end while the thread does: its cache may be gone by then.
void give_memory_back(void* memory, std::size_t size) noexcept {
  if (block_cache* const cache = OfThread<block_cache>::existing()) {
    cache->give_back(memory, size);
  } else {
    ::operator delete(memory);
  }
}

}  // namespace iwarp::asio::detail
