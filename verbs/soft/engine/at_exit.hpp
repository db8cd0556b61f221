#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "soft/engine/closing_streams.hpp"
#include "soft/engine/driven.hpp"

namespace iwarp::verbs::soft {

/// The end of a process that leaves connections behind: each is closed, and what had completed
/// arrives, or nothing moves any more.
class AtExit {
 public:
  using Time = StreamCloser::Time;

  // Any thread.
  /// The end has begun.
  void request() { requested_.store(true); }
  [[nodiscard]] bool requested() const { return requested_.load(); }
  /// Whether nothing is left to wait for.
  [[nodiscard]] bool reached() const { return reached_.load(); }
  /// Waits for that. Takes no lock, and gives up if the engine's thread takes no steps: the caller
  /// may have been interrupted anywhere.
  void await() const;

  // The engine's thread.
  /// The first closes `connections`. `now` is running time.
  void step(const std::vector<std::shared_ptr<Driven>>& connections, const ClosingStreams& closing,
            Time now);

 private:
  [[nodiscard]] bool has_to_wait(const ClosingStreams& closing, Time now);

  std::atomic<bool> requested_{false};
  std::atomic<bool> reached_{false};
  std::atomic<std::uint32_t> steps_{0};

  // The engine's thread's.
  Time delivered_since_{};
  std::vector<std::weak_ptr<Driven>> last_;
};

}  // namespace iwarp::verbs::soft
