#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "iwarp/provider/lock.hpp"
#include "iwarp/tcp_offload/readiness.hpp"

namespace iwarp::verbs::soft {

/// The events of a completion queue. Arming takes no descriptor, so that it cannot fail: what
/// happens before the program asks for one is counted. Thread-safe.
class CqEvents {
 public:
  void raise();
  /// The same, by a thread that is going to take it: it is not shown to others until show(), and
  /// costs no system call if it is gone by then.
  void raise_unshown();
  void show();
  /// Takes one, shown or not; false if there is none.
  bool take();
  /// Whether there is one, or was a moment ago.
  [[nodiscard]] bool any() const { return waiting_.load() > 0; }
  /// Readable while there is one. Made at the first call; throws std::system_error.
  [[nodiscard]] int descriptor();

 private:
  void raise_shown(std::uint32_t count);
  bool take_shown();
  bool take_unshown();

  std::atomic<std::ptrdiff_t> waiting_{0};
  std::atomic<std::uint32_t> unshown_{0};  // of those
  Mutex mutex_;
  std::unique_ptr<tcp_offload::EventCount> owner_
      IWARP_GUARDED_BY(mutex_);  // once the program asks for its descriptor
  std::atomic<tcp_offload::EventCount*> made_{nullptr};
  std::size_t before_ IWARP_GUARDED_BY(mutex_) = 0;  // that have come before there was one
};

}  // namespace iwarp::verbs::soft
