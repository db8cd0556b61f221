#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace iwarp::cli::file_service {

/// Whether a client of the same network was served lately.
enum class Standing : unsigned char { kStranger, kKnown };

/// How many chunk buffers all connections of a server have together. A few transfers get whole
/// windows, many get fewer buffers each, and each gets one at least: those of known networks at
/// once, if need be beyond the total; those of strangers stand in line for it. Thread-safe.
class BufferBudget {
 public:
  using Clock = std::chrono::steady_clock;

  /// A stranger that has stood in line for `patience` gets a buffer beyond the total
  /// (lend_beyond()).
  BufferBudget(std::size_t total, Clock::duration patience) : total_(total), patience_(patience) {}

  /// Buffers lent to one transfer; they come back when it is destroyed. Belongs to one thread.
  class Lease {
   public:
    /// Is told that the first one has come for which the transfer stood in line. On any thread; it
    /// neither throws nor calls the budget.
    using LentHandler = std::function<void()>;
    /// Gets the first one, or a place in the line. Throws std::bad_alloc.
    Lease(BufferBudget& budget, Standing standing, LentHandler on_lent);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// 0 while it stands in line.
    [[nodiscard]] std::size_t count() const { return count_.load(); }
    /// One more, unless strangers wait or that is more than a quarter of what the others leave.
    void grow();

   private:
    friend class BufferBudget;
    BufferBudget& budget_;
    std::atomic<std::size_t> count_{0};  ///< Changed under the budget's mutex.
    Clock::time_point since_ = Clock::now();
    LentHandler on_lent_;
  };

  struct Lack {
    bool overdrawn;       ///< More are lent than there should be.
    std::size_t in_line;  ///< So many wait for one.
  };
  [[nodiscard]] Lack lack() const;
  /// Transfers that creep, and never rest, must not stop the line: the first in it gets a buffer
  /// beyond the total if it has waited for long, one in each kLendsBeyond.
  void lend_beyond(Clock::time_point now);

 private:
  void lend_first(Lease& lease);
  void lend_to_first_in_line() noexcept;
  void serve_line() noexcept;

  const std::size_t total_;
  const Clock::duration patience_;
  mutable std::mutex mutex_;
  std::size_t lent_ = 0;
  std::deque<Lease*> line_;
  Clock::time_point lent_beyond_{};  ///< The last time.
};

}  // namespace iwarp::cli::file_service
