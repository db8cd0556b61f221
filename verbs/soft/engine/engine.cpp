#include "soft/engine/engine.hpp"

#include <algorithm>
#include <array>

#include "soft/engine/device_thread.hpp"

namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;

constexpr auto kDeadlineTick = 250ms;
// After a step that failed.
constexpr auto kFailureRest = 10ms;
// While the room for halves of FPDUs is short.
constexpr auto kHalvesTick = 50ms;
// While the end of the program is held up for closing streams: acknowledgements show at a look.
constexpr auto kExitTick = 5ms;

}  // namespace

Engine::Engine() : sockets_(tcp_offload::Repeat::kOnce) {
  // It need not be armed again: a thread that waits for the engine's depends on its waking up.
  const auto why =
      sockets_.add(wake_.descriptor(), kWakeToken, {true, false}, tcp_offload::Repeat::kLevel);
  if (why) {
    throw std::system_error(why, "a device cannot watch its sockets");
  }
  thread_ = device_thread([this] { run(); });
}

Engine::~Engine() {
  at_exit_.request();
  stopping_.store(true);
  wake_.raise();
  thread_.join();
}

void Engine::finish() {
  if (is_own_thread()) return;
  at_exit_.request();
  wake_.raise();
  at_exit_.await();
}

void Engine::run() {
  std::array<tcp_offload::Ready, 64> ready;
  for (bool over = false; !over;) {
    const std::size_t count = sockets_.wait(ready, time_to_wait());
    for (const tcp_offload::Ready& one : std::span(ready).first(count)) {
      attempts_.attempt([&] { serve_any(one); });
    }
    attempts_.attempt([&] { over = take_step(); });
    if (attempts_.take_failed()) std::this_thread::sleep_for(kFailureRest);
  }
}

void Engine::serve_any(const tcp_offload::Ready& ready) {
  if (ready.token == kWakeToken) {
    wake_.clear();
  } else if (ClosingStreams::owns(ready.token)) {
    closing_.serve(ready.token, time_.running());
  } else {
    serve(ready);
  }
}

void Engine::serve(const tcp_offload::Ready& ready) {
  const SocketTable::Turn turn = table_.turn_of(ready);
  if (!turn.of) return;
  if (ready.write) turn.of->transmit();
  bool drained = !turn.for_poller && turn.of->receive();
  if (drained && ready.urgent) drained = turn.of->receive();  // what is behind it
  // An end that was told of already is not told of again, and may be behind what was read.
  if (drained && !ready.ended) {
    table_.rearm_drained(*turn.of);
  } else {
    table_.rearm(*turn.of);
  }
}

// True once there is nothing left to do.
bool Engine::take_step() {
  // First these two: what was seen off before the end began is taken in before it is judged.
  const bool finishing = at_exit_.requested();
  const bool stopping = stopping_.load();
  if (finishing) table_.end_loans();  // the borrower may be the thread that ends the process
  closing_.take_in(time_.running());
  const auto now = Clock::now();
  if (table_.tick_is_due(now)) tick();
  make_room_if_short(now);
  if (finishing || now >= next_deadlines_) {
    next_deadlines_ = now + (finishing ? kExitTick : kDeadlineTick);
    for (const auto& driven : table_.all()) {
      driven->check_deadlines();
      table_.look_at_loan(*driven);
    }
    closing_.look_at_all(time_.running());
  }
  if (finishing) at_exit_.step(table_.all(), closing_, time_.running());
  return stopping && at_exit_.reached();
}

std::optional<std::chrono::milliseconds> Engine::time_to_wait() {
  std::optional<Clock::time_point> until = table_.next_tick();
  const auto by = [&](Clock::time_point time) { until = until ? std::min(*until, time) : time; };
  const bool ends = at_exit_.requested() && !at_exit_.reached();
  if (!table_.empty() || closing_.any() || ends) by(next_deadlines_);
  if (!halves_.has_room()) by(next_look_at_halves_);
  if (!until) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
  return std::max(left, 0ms);
}

void Engine::tick() {
  for (const auto& driven : table_.left_to_pollers()) {
    if (!table_.is_abandoned(*driven)) continue;
    take_back(*driven);
    driven->receive();
  }
  look_at_waiting();
  table_.rest_if_all_sleep();
}

// What the poller would have sent is sent.
void Engine::take_back(Driven& driven) {
  if (!table_.take_back(driven)) return;
  driven.transmit();
  table_.rearm(driven);
}

void Engine::take_back(const PollSigns& armed) {
  for (const auto& driven : table_.left_to_pollers()) {
    if (driven->pollers().has(armed)) take_back(*driven);
  }
}

// A receive may have been posted to a shared receive queue, which does not know that a message
// waits for it. And no socket tells that the peer has acknowledged.
void Engine::look_at_waiting() {
  for (const auto& driven : table_.looking()) {
    driven->look_again();
    if (driven->waits().looks) continue;
    table_.stop_looking(*driven);
    // It may have begun to wait again meanwhile.
    if (driven->waits().looks) table_.look_again(*driven);
    table_.rearm(*driven);
  }
}

void Engine::make_room_if_short(Clock::time_point now) {
  if (halves_.has_room() || (now < next_look_at_halves_ && !halves_.has_run_out())) return;
  next_look_at_halves_ = now + kHalvesTick;
  make_room(table_.all(), halves_, time_.running());
}

void Engine::drive_unpolled() {
  if (!table_.count_idle_poll()) return;
  if (!driving_unpolled_.try_lock()) return;
  const Guard lock(driving_unpolled_, std::adopt_lock);
  table_.take_unpolled(unpolled_);
  for (const auto& driven : unpolled_) driven->drive();
  unpolled_.clear();
}

}  // namespace iwarp::verbs::soft
