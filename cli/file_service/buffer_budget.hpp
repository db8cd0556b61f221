#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>

namespace iwarp::cli::file_service {

/// How many chunk buffers all connections of a server have together. A few clients get whole
/// windows, many get fewer buffers each, and each gets one at least. Thread-safe.
class BufferBudget {
 public:
  explicit BufferBudget(std::size_t total) : free_(total) {}

  /// Buffers lent to one transfer; they come back when it is destroyed.
  class Lease {
   public:
    Lease(BufferBudget& budget, std::size_t count, std::size_t charged)
        : budget_(budget), count_(count), charged_(charged) {}
    ~Lease() { budget_.give_back(charged_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] std::size_t count() const { return count_; }

   private:
    BufferBudget& budget_;
    std::size_t count_;
    std::size_t charged_;
  };

  /// At most `wanted` buffers, at most a quarter of what is free, at least one.
  Lease lend(std::size_t wanted) {
    const std::scoped_lock lock(mutex_);
    const std::size_t count = std::clamp<std::size_t>(free_ / 4, 1, wanted);
    const std::size_t charged = std::min(count, free_);
    free_ -= charged;
    return {*this, count, charged};
  }

 private:
  void give_back(std::size_t count) {
    const std::scoped_lock lock(mutex_);
    free_ += count;
  }

  std::mutex mutex_;
  std::size_t free_;
};

}  // namespace iwarp::cli::file_service
