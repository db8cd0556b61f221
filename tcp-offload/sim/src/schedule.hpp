#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "iwarp/tcp_offload/device.hpp"
#include "random.hpp"

namespace iwarp::tcp_offload::sim {

using Nanoseconds = std::chrono::nanoseconds;
using TimePoint = Device::Clock::time_point;

/// What happened, for the digest of a run.
enum class Happening : std::uint64_t { kStep, kData, kFin, kReset, kAccepted, kLent };

/// The virtual clock and what is to come, ordered by time and then by when it was scheduled.
class Schedule {
 public:
  struct Id {
    TimePoint when;
    std::uint64_t order = 0;
    auto operator<=>(const Id&) const = default;
  };

  /// Runs `task` at `when`, or now if that has passed, but never before returning.
  Id at(TimePoint when, Handler<> task);
  Id after(Nanoseconds delay, Handler<> task);
  Id soon(Handler<> task) { return at(now_, std::move(task)); }
  /// Forgets a task that has not run; no effect on one that has.
  void cancel(const Id& id);

  /// Runs the next task; false if there is none.
  bool run_next();
  [[nodiscard]] std::optional<TimePoint> next() const;
  [[nodiscard]] TimePoint now() const { return now_; }
  /// Moves the clock on; nothing is scheduled before `to`.
  void move_to(TimePoint to) { now_ = to; }
  /// Forgets everything and takes nothing more.
  void close();

  /// Adds to the digest.
  void note(Happening what, std::uint64_t value);
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  TimePoint now_{};
  std::uint64_t order_ = 0;
  std::uint64_t digest_ = 0;
  bool closed_ = false;
  std::map<Id, Handler<>> tasks_;
};

/// What everything in one network shares.
struct World {
  explicit World(std::uint64_t seed) : random(seed) {}
  Schedule schedule;
  Random random;
};

}  // namespace iwarp::tcp_offload::sim
