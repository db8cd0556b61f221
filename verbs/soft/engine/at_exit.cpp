#include "soft/engine/at_exit.hpp"

#include <thread>
#include <utility>

namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;

// How long the end of the program is held up for a peer that has everything and does not close.
constexpr auto kFinAtExit = 2s;
// The engine's thread takes a step each 5 ms then, unless a lock keeps it from that for good.
constexpr auto kStuck = 2s;
constexpr auto kLook = 2ms;

}  // namespace

void AtExit::await() const {
  using Clock = std::chrono::steady_clock;
  std::uint32_t seen = steps_.load();
  auto last_step = Clock::now();
  while (!reached() && Clock::now() - last_step < kStuck) {
    std::this_thread::sleep_for(kLook);
    if (std::exchange(seen, steps_.load()) != steps_.load()) last_step = Clock::now();
  }
}

void AtExit::step(const std::vector<std::shared_ptr<Driven>>& connections,
                  const ClosingStreams& closing, Time now) {
  if (steps_.fetch_add(1) == 0) {
    last_.assign(connections.begin(), connections.end());
    for (const auto& each : connections) each->close();
  }
  reached_.store(!has_to_wait(closing, now));
}

// That a peer has everything and does not close keeps no program from ending for long.
bool AtExit::has_to_wait(const ClosingStreams& closing, Time now) {
  bool delivered = closing.none_undelivered();
  bool over = !closing.any();
  for (const auto& weak : last_) {
    const auto connection = weak.lock();
    if (!connection) continue;
    delivered = delivered && connection->delivered();
    over = over && connection->over();
  }
  if (!delivered) delivered_since_ = {};
  if (delivered && delivered_since_ == Time{}) delivered_since_ = now;
  return !over && (!delivered || now - delivered_since_ < kFinAtExit);
}

}  // namespace iwarp::verbs::soft
