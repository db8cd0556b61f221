#include "soft/engine.hpp"

#include <algorithm>
#include <array>

#include "soft/device_thread.hpp"
#include "soft/socket_token.hpp"
#include "soft/soft_cq.hpp"
#include "soft/soft_qp.hpp"

namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;

constexpr auto kDeadlineTick = 250ms;
// After a step that failed.
constexpr auto kFailureRest = 10ms;
// While the room for halves of FPDUs is short.
constexpr auto kTailTick = 50ms;
// While the end of the program is held up for closing streams: acknowledgements show at a look.
constexpr auto kExitTick = 5ms;

// Beside those of queue pairs, which are even, there are those of closing streams.
bool is_closing(std::uint64_t token) { return token % 2 == 1; }

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
  finishing_.store(true);
  stopping_.store(true);
  wake_.raise();
  thread_.join();
}

// Takes the memory for all that may become of the entry: it must not be missing later.
std::error_code Engine::add(SoftQp& qp) {
  const std::lock_guard lock(mutex_);
  for (auto* list : {&parked_, &waiting_, &lent_}) {
    if (list->capacity() <= entries_.size()) list->reserve(2 * entries_.size() + 1);
  }
  entries_[token_of(qp)] = {.qp = qp.weak_from_this(),
                            .descriptor = qp.descriptor(),
                            .seen_sign = sign_of(qp),
                            .seen_helps = helps_.load()};
  // The thread, which may see the socket ready at once, waits for the lock.
  const auto refused = sockets_.add(qp.descriptor(), token_of(qp), {qp.reads(), qp.blocked()});
  if (refused) {
    entries_.erase(token_of(qp));
    return refused;
  }
  if (entries_.size() == 1) wake_.raise();  // deadlines are looked at from now on
  return {};
}

void Engine::remove(SoftQp& qp) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(token_of(qp));
  if (at == entries_.end()) return;
  sockets_.remove(at->second.descriptor);
  take_back(at->first, at->second);
  std::erase(waiting_, at->first);
  entries_.erase(at);
  qp.set_leased(false);
}

void Engine::look_again(SoftQp& qp) {
  {
    const std::lock_guard lock(mutex_);
    const Token token = token_of(qp);
    const bool known = std::ranges::find(waiting_, token) != waiting_.end();
    if (known || !entries_.contains(token)) return;
    waiting_.push_back(token);
    resume_ticks();
  }
  wake_.raise();
}

void Engine::want_read(SoftQp& qp) { rearm(qp); }

void Engine::serve(const tcp_offload::Ready& ready) {
  std::shared_ptr<SoftQp> qp;  // outlives the lock: it may be the last to know the queue pair
  bool parked = false;
  {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(ready.token);
    if (at == entries_.end()) return;
    qp = at->second.qp.lock();
    if (!qp) return;
    parked = at->second.parked || (ready.read && leave_to_poller(ready.token, at->second, *qp));
    if (parked) qp->set_leased(!at->second.lent);
    if (parked && ready.read) call_poller(at->second);
  }
  if (ready.write) qp->transmit();
  if (!parked) qp->receive();
  rearm(*qp);
}

// Nobody holds a queue pair of this under the lock: he could be its last owner.
std::vector<std::shared_ptr<SoftQp>> Engine::owners_of(const std::vector<Token>& tokens) {
  std::vector<std::shared_ptr<SoftQp>> owners;
  const std::lock_guard lock(mutex_);
  owners.reserve(tokens.size());
  for (const Token token : tokens) {
    if (auto qp = entries_[token].qp.lock()) owners.push_back(std::move(qp));
  }
  return owners;
}

bool Engine::tick_is_due(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (now < next_tick_ || resting_.load()) return false;
  next_tick_ = now + kLeaseTick;
  return true;
}

void Engine::tick() {
  for (const auto& qp : owners_of(parked_)) {
    if (!abandoned(*qp)) continue;
    unpark(qp);
    qp->receive();
  }
  look_at_waiting();
  rest_if_all_sleep();
}

// A receive may have been posted where nobody knew of the wait: to a shared receive queue. And no
// socket tells that the peer has acknowledged.
void Engine::look_at_waiting() {
  for (const auto& qp : owners_of(waiting_)) {
    qp->look_again();
    if (qp->wants_looks()) continue;
    {
      const std::lock_guard lock(mutex_);
      std::erase(waiting_, token_of(*qp));
    }
    // It may have begun to wait again meanwhile.
    if (qp->wants_looks()) look_again(*qp);
    rearm(*qp);
  }
}

std::vector<std::shared_ptr<SoftQp>> Engine::all_owners() {
  std::vector<std::shared_ptr<SoftQp>> all;
  const std::lock_guard lock(mutex_);
  all.reserve(entries_.size());
  for (const auto& [token, entry] : entries_) {
    if (auto qp = entry.qp.lock()) all.push_back(std::move(qp));
  }
  return all;
}

void Engine::look_at_deadlines() {
  for (const auto& qp : all_owners()) qp->check_deadlines();
}

void Engine::account_tail(std::ptrdiff_t octets) {
  if (tails_.account(octets)) wake_.raise();
}

void Engine::look_at_tails(Clock::time_point now) {
  if (!tails_.is_short() || (now < next_tails_ && !tails_.has_run_out())) return;
  next_tails_ = now + kTailTick;
  make_tail_room(all_owners(), tails_, running());
}

std::optional<std::chrono::milliseconds> Engine::time_to_wait() {
  const std::lock_guard lock(mutex_);
  std::optional<Clock::time_point> until;
  const auto by = [&](Clock::time_point time) { until = until ? std::min(*until, time) : time; };
  if ((!parked_.empty() && !resting_.load()) || !waiting_.empty()) by(next_tick_);
  const bool ends = finishing_.load() && !finished_.load();
  if (!entries_.empty() || !closing_.empty() || !arriving_.empty() || ends) by(next_deadlines_);
  if (tails_.is_short()) by(next_tails_);
  if (!until) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
  return std::max(left, 0ms);
}

void Engine::run() {
  std::array<tcp_offload::Ready, 64> ready;
  for (bool over = false; !over;) {
    const std::size_t count = sockets_.wait(ready, time_to_wait());
    for (const tcp_offload::Ready& one : std::span(ready).first(count)) {
      attempt([&] { serve_any(one); });
    }
    attempt([&] { over = take_step(); });
    if (std::exchange(failed_, false)) std::this_thread::sleep_for(kFailureRest);
  }
}

void Engine::serve_any(const tcp_offload::Ready& ready) {
  if (ready.token == kWakeToken) {
    wake_.clear();
  } else if (is_closing(ready.token)) {
    serve_closing(ready.token);
  } else {
    serve(ready);
  }
}

// True once there is nothing left to do.
bool Engine::take_step() {
  // First these two: what was seen off before the end began is taken in before it is judged.
  const bool finishing = finishing_.load();
  const bool stopping = stopping_.load();
  take_in_closing();
  const auto now = Clock::now();
  if (tick_is_due(now)) tick();
  look_at_tails(now);
  if (finishing || now >= next_deadlines_) {
    next_deadlines_ = now + (finishing ? kExitTick : kDeadlineTick);
    look_at_deadlines();
    look_at_closing();
  }
  if (finishing) finish_step();
  return stopping && finished_.load();
}

}  // namespace iwarp::verbs::soft
