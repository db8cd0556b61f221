#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>

namespace iwarp::cli::file_service {

/// How many chunk buffers all connections of a server have together. A few clients get whole
/// windows, many get fewer buffers each, and each gets one at least, if need be beyond the total.
/// Thread-safe.
class BufferBudget {
 public:
  explicit BufferBudget(std::size_t total) : total_(total) {}

  /// Buffers lent to one transfer; they come back when it is destroyed.
  class Lease {
   public:
    Lease(BufferBudget& budget, std::size_t count) : budget_(budget), count_(count) {}
    ~Lease() { budget_.give_back(count_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] std::size_t count() const { return count_; }

   private:
    BufferBudget& budget_;
    std::size_t count_;
  };

  /// At most `wanted` buffers, at most a quarter of what is free, at least one.
  Lease lend(std::size_t wanted) {
    const std::scoped_lock lock(mutex_);
    const std::size_t free = total_ - std::min(lent_, total_);
    const std::size_t count = std::clamp<std::size_t>(free / 4, 1, wanted);
    lent_ += count;
    return {*this, count};
  }
  /// Whether more are lent than there should be.
  [[nodiscard]] bool overdrawn() const {
    const std::scoped_lock lock(mutex_);
    return lent_ > total_;
  }

 private:
  void give_back(std::size_t count) {
    const std::scoped_lock lock(mutex_);
    lent_ -= count;
  }

  const std::size_t total_;
  mutable std::mutex mutex_;
  std::size_t lent_ = 0;
};

}  // namespace iwarp::cli::file_service
