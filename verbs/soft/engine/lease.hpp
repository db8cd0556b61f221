#pragma once

#include <cstdint>

#include "soft/engine/poll_signs.hpp"
#include "soft/engine/sleeper.hpp"

namespace iwarp::verbs::soft {

/// To which threads one socket is left, and for how long. Times are counted in the engine's ticks.
/// Not thread-safe.
class Lease {
 public:
  enum class Holder : std::uint8_t {
    kEngine,
    kPoller,      ///< A thread that polls for the connection, or sleeps where it would wake up.
    kIdlePoller,  ///< Threads that poll other queues in vain.
  };

  /// The engine has the socket. `idle_polls` counts the polls of such threads.
  Lease(const Pollers& pollers, std::uint32_t idle_polls)
      : seen_count_(pollers.count()), seen_idle_polls_(idle_polls) {}

  /// Leaves the socket to a thread that has polled since the last look. False if none has.
  bool offer(const Pollers& pollers, std::uint32_t idle_polls);
  /// The engine has the socket again.
  void take_back();
  /// There is something to read for the holder.
  void socket_is_ready() { sleeper_.socket_is_ready(); }

  /// What the engine is to do after a tick.
  enum class Verdict : std::uint8_t {
    kStays,
    kWatch,     ///< Have the socket watched: the holder sleeps on.
    kTakeBack,  ///< No thread polls any more.
  };
  /// `busy`: a thread is inside the connection. One poll may take longer than a tick where there is
  /// much to place.
  Verdict tick(const Pollers& pollers, std::uint32_t idle_polls, bool busy);

  [[nodiscard]] Holder holder() const { return holder_; }
  [[nodiscard]] bool is_left() const { return holder_ != Holder::kEngine; }
  /// Whether the engine is to be told of input.
  [[nodiscard]] bool watches_input() const { return !is_left() || sleeper_.is_watched(); }
  /// Whether no tick is needed until the socket is ready or the sleeper wakes up.
  [[nodiscard]] bool needs_no_ticks() const { return sleeper_.is_asleep(); }
  /// Whether the sleeper has not woken up since the last look.
  [[nodiscard]] bool sleeps_on(const Pollers& pollers) const {
    return pollers.asleep() && pollers.count() == seen_count_;
  }

 private:
  [[nodiscard]] Holder find_poller(const Pollers& pollers, std::uint32_t idle_polls);

  Holder holder_ = Holder::kEngine;
  std::uint32_t seen_count_;
  std::uint32_t seen_idle_polls_;
  Sleeper sleeper_;
};

}  // namespace iwarp::verbs::soft
