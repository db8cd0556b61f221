#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "iwarp/verbs/provider.hpp"
#include "soft/engine/poll_signs.hpp"
#include "soft/queues/places.hpp"
#include "soft/spin_lock.hpp"

namespace iwarp::verbs::soft {

/// The completions that wait to be polled, and whether the next one raises an event. Thread-safe.
class CompletionRing {
 public:
  /// Shows in `signs` that it is armed, and that an event is raised.
  CompletionRing(std::uint32_t depth, PollSigns& signs) : signs_(signs), ring_(depth) {}

  struct Pushed {
    bool all = false;            ///< All were taken.
    bool fires = false;          ///< An event is to be raised.
    bool first_overrun = false;  ///< For the first time not all were taken.
  };
  /// Adds the completions of requests, each of which has a place among `places` that is given back
  /// when its completion is polled. The first that fit are taken. The places of the others are
  /// given back here: the ring has overrun, and takes nothing any more.
  Pushed push(std::span<const Completion> completions, PlaceOwner& places);
  /// Takes the oldest, up to `into.size()`.
  std::size_t pop(std::span<Completion> into);
  /// Takes out those of a queue pair.
  void discard(std::uint32_t qp_number);
  void arm(provider::Arm what);
  /// False if more are waiting than would fit. Throws std::bad_alloc.
  [[nodiscard]] bool resize(std::uint32_t depth);

  [[nodiscard]] bool empty() const { return count_.load() == 0; }
  [[nodiscard]] bool has_overrun() const { return overrun_.load(); }
  [[nodiscard]] std::uint32_t capacity() const;

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };
  struct Entry {
    Completion completion;
    PlaceOwner* places = nullptr;
  };
  std::size_t append(std::span<const Completion> completions, PlaceOwner& places)
      IWARP_REQUIRES(lock_);
  bool fires(const Completion& completion) IWARP_REQUIRES(lock_);
  /// Where the entry lies that is so many behind the oldest, which is fewer than the ring has.
  [[nodiscard]] std::size_t at(std::uint32_t position) const IWARP_REQUIRES(lock_);

  PollSigns& signs_;
  mutable SpinLock lock_;
  std::vector<Entry> ring_ IWARP_GUARDED_BY(lock_);  // as long as the queue is deep
  std::uint32_t head_ IWARP_GUARDED_BY(lock_) = 0;
  Armed armed_ IWARP_GUARDED_BY(lock_) = Armed::kNo;
  std::atomic<std::uint32_t> count_{0};  // changed under lock_
  std::atomic<bool> overrun_{false};     // for ever; likewise
};

}  // namespace iwarp::verbs::soft
