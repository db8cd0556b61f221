#include <utility>

#include "iwarp/process/log.hpp"
#include "soft/engine.hpp"
#include "soft/soft_qp.hpp"

/// Streams on their way out: what their queue pairs have left behind.
namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;

// How long the end of the program is held up for a peer that has everything and does not close.
constexpr auto kFinAtExit = 2s;
// The engine's thread takes a step each 5 ms then, unless a lock keeps it from that for good.
constexpr auto kStuck = 2s;
constexpr auto kFinishLook = 2ms;

}  // namespace

void Engine::see_off(ClosingStream closing) {
  {
    const std::lock_guard lock(mutex_);
    arriving_.push_back(std::move(closing));
  }
  wake_.raise();
}

void Engine::take_in_closing() {
  std::vector<ClosingStream> arriving;
  {
    const std::lock_guard lock(mutex_);
    arriving.swap(arriving_);
  }
  for (ClosingStream& stream : arriving) {
    attempt([&] { take_in(std::move(stream)); });
  }
}

void Engine::take_in(ClosingStream stream) {
  const Token token = next_closing_;
  next_closing_ += 2;
  const auto at = closing_.try_emplace(token, std::move(stream), running()).first;
  // One that the system refuses to watch moves on at each tick.
  static_cast<void>(sockets_.add(at->second.descriptor(), token, {}));
  serve_closing(token);
}

void Engine::serve_closing(Token token) {
  const auto at = closing_.find(token);
  if (at == closing_.end()) return;
  if (turn_closing(at->second)) {
    closing_.erase(at);
    return;
  }
  const auto interest = at->second.interest();
  if (interest.read || interest.write) {
    sockets_.modify(at->second.descriptor(), token, interest);
  }
}

// True once it is over. Nobody but the log can be told that something may not have arrived: the
// queue pair has gone.
bool Engine::turn_closing(StreamCloser& closer) {
  if (closer.turn(running()) != StreamCloser::State::kOver) return false;
  if (!closer.failure().empty()) {
    static process::LogLimit limit;
    limit.log(process::LogLevel::kWarn, closer.failure());
  }
  sockets_.remove(closer.descriptor());
  return true;
}

void Engine::look_at_closing() {
  for (auto at = closing_.begin(); at != closing_.end();) {
    bool over = false;
    attempt([&] { over = turn_closing(at->second); });
    at = over ? closing_.erase(at) : std::next(at);
  }
}

void Engine::finish() {
  if (is_own_thread()) return;
  finishing_.store(true);
  wake_.raise();
  std::uint32_t seen = finish_steps_.load();
  auto last_step = Clock::now();
  while (!finished_.load() && Clock::now() - last_step < kStuck) {
    std::this_thread::sleep_for(kFinishLook);
    if (std::exchange(seen, finish_steps_.load()) != finish_steps_.load()) last_step = Clock::now();
  }
}

void Engine::finish_step() {
  if (finish_steps_.fetch_add(1) == 0) close_all();
  finished_.store(!waits_at_exit(running()));
}

void Engine::close_all() {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [token, entry] : entries_) last_.push_back(entry.qp);
  }
  for (const auto& weak : last_) {
    if (const auto qp = weak.lock()) qp->close();
  }
}

// That a peer has everything and does not close keeps no program from ending for long.
bool Engine::waits_at_exit(Clock::time_point now) {
  bool delivered = true;
  bool over = true;
  const auto count = [&](bool has_everything, bool is_over) {
    delivered = delivered && has_everything;
    over = over && is_over;
  };
  for (const auto& [token, closer] : closing_) {
    count(closer.state() == StreamCloser::State::kAwaitsFin, false);
  }
  for (const auto& weak : last_) {
    if (const auto qp = weak.lock()) count(qp->delivered(), qp->state() == QpState::kError);
  }
  if (!delivered) delivered_since_ = {};
  if (delivered && delivered_since_ == Clock::time_point{}) delivered_since_ = now;
  return !over && (!delivered || now - delivered_since_ < kFinAtExit);
}

}  // namespace iwarp::verbs::soft
