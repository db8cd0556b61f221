#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <stdexcept>

namespace iwarp::test {

/// What becomes of memory.
enum class Loss { kUnmapped, kNoAccess, kReadOnly, kTruncated };
inline constexpr Loss kLosses[] = {Loss::kUnmapped, Loss::kNoAccess, Loss::kReadOnly,
                                   Loss::kTruncated};

inline const char* name_of(Loss loss) {
  switch (loss) {
    case Loss::kUnmapped: return "unmapped";
    case Loss::kNoAccess: return "PROT_NONE";
    case Loss::kReadOnly: return "PROT_READ";
    case Loss::kTruncated: return "truncated";
  }
  return "";
}

/// Whole pages behind which there is a file, and around which there is nothing. They can be taken
/// away, and the process can be told apart from one that is still allowed to use them.
class VanishingMemory {
 public:
  static std::size_t page() {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
  }

  explicit VanishingMemory(std::size_t pages)
      : size_(pages * page()), file_(::memfd_create("vanishing", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("no memory");
    data_ = remote_pages(size_ + 2 * page()) + page();
    give_back();
  }
  ~VanishingMemory() {
    ::munmap(data_ - page(), size_ + 2 * page());
    ::close(file_);
  }
  VanishingMemory(const VanishingMemory&) = delete;
  VanishingMemory& operator=(const VanishingMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  /// Loses the pages from this one on.
  void lose(Loss how, std::size_t from_page = 0) const {
    std::byte* const at = data_ + from_page * page();
    const std::size_t size = size_ - from_page * page();
    int result = 0;
    switch (how) {
      case Loss::kUnmapped: result = ::munmap(at, size); break;
      case Loss::kNoAccess: result = ::mprotect(at, size, PROT_NONE); break;
      case Loss::kReadOnly: result = ::mprotect(at, size, PROT_READ); break;
      case Loss::kTruncated: result = ::ftruncate(file_, offset_of(at)); break;
    }
    if (result != 0) throw std::runtime_error("cannot lose memory");
  }
  /// All is as in the beginning, and zero where it had been truncated.
  void give_back() const {
    const bool whole = ::ftruncate(file_, static_cast<off_t>(size_)) == 0;
    const void* const at =
        ::mmap(data_, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0);
    if (!whole || at == MAP_FAILED) throw std::runtime_error("cannot give memory back");
  }

 private:
  static constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  /// Pages without access, far below all others. The system puts a mapping into the highest gap
  /// that has room for it, hence never into a hole among these: another thread's mapping that came
  /// to lie there would go with the hole's end.
  static std::byte* remote_pages(std::size_t size) {
    constexpr std::size_t kDistance = std::size_t{64} << 30U;
    void* const top = ::mmap(nullptr, size, PROT_NONE, kPrivate, -1, 0);
    if (top == MAP_FAILED) throw std::runtime_error("no memory");
    ::munmap(top, size);
    std::byte* at = static_cast<std::byte*>(top) - kDistance;
    for (int tries = 0; tries < kNeighbours; ++tries, at -= size) {
      void* const all = ::mmap(at, size, PROT_NONE, kPrivate | MAP_FIXED_NOREPLACE, -1, 0);
      if (all != MAP_FAILED) return static_cast<std::byte*>(all);
    }
    throw std::runtime_error("no room for memory");
  }
  static constexpr int kNeighbours = 1000;
  [[nodiscard]] off_t offset_of(const std::byte* at) const { return at - data_; }

  const std::size_t size_;
  const int file_;
  std::byte* data_ = nullptr;
};

}  // namespace iwarp::test
