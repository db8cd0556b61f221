#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "iwarp/tcp_offload/readiness.hpp"
#include "soft/lock.hpp"

namespace iwarp::verbs::soft {

/// The events of a completion queue. Arming takes no descriptor, so that it cannot fail: what
/// happens before the program asks for one is counted. Thread-safe.
class CqEvents {
 public:
  void raise();
  /// Takes one; false if there is none.
  bool take();
  /// Whether there is one, or was a moment ago.
  [[nodiscard]] bool any() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  /// Readable while there is one. Made at the first call; throws std::system_error.
  [[nodiscard]] int descriptor();

 private:
  bool take_counted();

  std::atomic<std::ptrdiff_t> waiting_{0};
  Mutex mutex_;
  std::unique_ptr<tcp_offload::EventCount> owner_
      IWARP_GUARDED_BY(mutex_);  // once the program asks for its descriptor
  std::atomic<tcp_offload::EventCount*> made_{nullptr};
  std::size_t before_ IWARP_GUARDED_BY(mutex_) = 0;  // that have come before there was one
};

}  // namespace iwarp::verbs::soft
