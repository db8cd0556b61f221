#include "soft/engine/lease.hpp"

#include <utility>

namespace iwarp::verbs::soft {

// Which threads have polled since the last look: kEngine if none of those that may hold the socket.
Lease::Holder Lease::find_poller(const Pollers& pollers, std::uint32_t idle_polls) {
  const std::uint32_t count = pollers.count();
  const bool moved = std::exchange(seen_count_, count) != count;
  if (moved) sleeper_.heard();
  const bool polled = moved || (pollers.asleep() && sleeper_.is_trusted());
  const bool polled_idly = std::exchange(seen_idle_polls_, idle_polls) != idle_polls;
  if (polled && holder_ != Holder::kIdlePoller) return Holder::kPoller;
  if (polled_idly && holder_ != Holder::kPoller) return Holder::kIdlePoller;
  return Holder::kEngine;
}

bool Lease::offer(const Pollers& pollers, std::uint32_t idle_polls) {
  if (pollers.left_to_engine()) return false;
  holder_ = find_poller(pollers, idle_polls);
  return is_left();
}

void Lease::take_back() {
  holder_ = Holder::kEngine;
  sleeper_.unwatch();
}

Lease::Verdict Lease::tick(const Pollers& pollers, std::uint32_t idle_polls, bool busy) {
  if (pollers.left_to_engine()) return Verdict::kTakeBack;
  if (find_poller(pollers, idle_polls) == Holder::kEngine) {
    return busy ? Verdict::kStays : Verdict::kTakeBack;
  }
  if (holder_ == Holder::kIdlePoller || !pollers.asleep()) return Verdict::kStays;
  switch (sleeper_.tick()) {
    case Sleeper::Step::kNone: break;
    case Sleeper::Step::kWatch: return Verdict::kWatch;
    case Sleeper::Step::kTakeBack: return Verdict::kTakeBack;
  }
  return Verdict::kStays;
}

}  // namespace iwarp::verbs::soft
