#include "soft/engine.hpp"

#include <algorithm>
#include <array>

#include "iwarp/tcp_offload/quiet_thread.hpp"
#include "soft/socket_token.hpp"
#include "soft/soft_cq.hpp"
#include "soft/soft_qp.hpp"

namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;

// How long a poller may be silent before the engine takes its sockets back.
constexpr auto kLeaseTick = 1ms;
// After so many ticks at which all pollers slept and had got nothing, ticks wait for one to wake.
constexpr unsigned kSleepyTicks = 8;
constexpr auto kDeadlineTick = 250ms;
// While the end of the program is held up for closing streams: acknowledgements show at a look.
constexpr auto kExitTick = 5ms;

// Beside those of queue pairs, which are even, there are those of closing streams.
bool is_closing(std::uint64_t token) { return token % 2 == 1; }

std::uint32_t sign_of(const SoftQp& qp) {
  return qp.send_cq().lease_sign() + qp.recv_cq().lease_sign();
}

bool has_waiter(const SoftQp& qp) { return qp.send_cq().has_waiter() || qp.recv_cq().has_waiter(); }

bool armed(const SoftQp& qp) { return qp.send_cq().armed() || qp.recv_cq().armed(); }

}  // namespace

Engine::Engine() : sockets_(tcp_offload::Repeat::kOnce) {
  sockets_.add(wake_.descriptor(), kWakeToken, {true, false});
}

Engine::~Engine() {
  finishing_.store(true);
  stopping_.store(true);
  wake_.raise();
  if (thread_.joinable()) thread_.join();
}

void Engine::start() {
  std::call_once(started_, [this] { thread_ = tcp_offload::quiet_thread([this] { run(); }); });
}

void Engine::add(SoftQp& qp) {
  start();
  const std::lock_guard lock(mutex_);
  entries_[token_of(qp)] = {.qp = qp.weak_from_this(),
                            .descriptor = qp.descriptor(),
                            .seen_sign = sign_of(qp),
                            .seen_helps = helps_.load()};
  sockets_.add(qp.descriptor(), token_of(qp), {qp.reads(), qp.blocked()});
  if (entries_.size() == 1) wake_.raise();  // deadlines are looked at from now on
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

void Engine::want_write(SoftQp& qp) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(token_of(qp));
  if (at == entries_.end()) return;
  // A poller comes back by itself; one that sleeps, or that looks at ready sockets only, does not.
  if (qp.polled_each_time() && !has_waiter(qp)) {
    if (at->second.parked) return;
    const bool first = parked_.empty() || resting_.load();
    if (leave_to_poller(at->first, at->second, qp)) {
      qp.set_leased(!at->second.lent);
      if (first) wake_.raise();  // the engine looks after it from now on
      return;
    }
  }
  sockets_.modify(at->second.descriptor, at->first, {qp.reads() && !at->second.parked, true});
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

void Engine::rearm(const SoftQp& qp) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(token_of(qp));
  if (at == entries_.end()) return;
  const tcp_offload::Interest interest{qp.reads() && !at->second.parked, qp.blocked()};
  if (interest.read || interest.write) sockets_.modify(at->second.descriptor, at->first, interest);
}

// Whether somebody has polled for it, or for others in vain, since the last look.
bool Engine::has_poller(Entry& entry, const SoftQp& qp) {
  const std::uint32_t sign = sign_of(qp);
  const std::uint32_t helps = helps_.load();
  const bool polled = std::exchange(entry.seen_sign, sign) != sign || has_waiter(qp);
  const bool helped = std::exchange(entry.seen_helps, helps) != helps;
  const bool lent = entry.parked ? entry.lent : !polled && helped;
  if (lent && !entry.lent) {
    lent_.push_back(token_of(qp));
    lent_count_.store(lent_.size());
  }
  entry.lent = lent;
  return lent ? helped : polled;
}

bool Engine::leave_to_poller(Token token, Entry& entry, const SoftQp& qp) {
  if (armed(qp) || !has_poller(entry, qp)) return false;
  entry.parked = true;
  if (resume_ticks() || parked_.empty()) next_tick_ = Clock::now() + kLeaseTick;
  parked_.push_back(token);
  return true;
}

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
  }
  if (ready.write) qp->transmit();
  if (!parked) qp->receive();
  if (!parked || qp->blocked()) rearm(*qp);
}

void Engine::take_back(Token token, Entry& entry) {
  entry.parked = entry.lent = false;
  std::erase(parked_, token);
  std::erase(lent_, token);
  lent_count_.store(lent_.size());
}

void Engine::help() {
  helps_.fetch_add(1, std::memory_order_relaxed);
  if (lent_count_.load() == 0) return;
  const std::unique_lock lock(helping_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  {
    const std::lock_guard entries_lock(mutex_);
    for (const Token token : lent_) {
      if (auto qp = entries_[token].qp.lock()) helped_.push_back(std::move(qp));
    }
  }
  for (const auto& qp : helped_) qp->drive();
  helped_.clear();
}

// Takes a socket back from a poller. What the poller would have sent is sent.
void Engine::unpark(const std::shared_ptr<SoftQp>& qp) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(token_of(*qp));
    if (at == entries_.end() || !at->second.parked) return;
    take_back(at->first, at->second);
    qp->set_leased(false);
  }
  qp->transmit();
  rearm(*qp);
}

void Engine::stop_lease(SoftCq& cq) {
  for (const auto& qp : owners_of(parked_)) {
    if (&qp->send_cq() == &cq || &qp->recv_cq() == &cq) unpark(qp);
  }
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

// Whether nobody has polled for it since the last look.
bool Engine::abandoned(const SoftQp& qp) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(token_of(qp));
  if (at == entries_.end() || !at->second.parked) return false;
  // One poll may take longer than a tick where there is much to place.
  return armed(qp) || !(has_poller(at->second, qp) || qp.busy());
}

// Whether every poller sleeps and has got nothing since the last tick.
bool Engine::all_sleep(const std::vector<std::shared_ptr<SoftQp>>& parked) {
  std::uint32_t signs = 0;
  bool sleep = true;
  for (const auto& qp : parked) {
    signs += sign_of(*qp);
    sleep = sleep && has_waiter(*qp);
  }
  return std::exchange(signs_, signs) == signs && sleep;
}

// A sleeper leaves before it says so, and this looks again after having said that it rests: one of
// the two sees the other.
void Engine::rest_if_all_sleep() {
  {
    const std::lock_guard lock(mutex_);
    ++sleepy_ticks_;
  }
  const auto parked = owners_of(parked_);
  const bool sleepy = !parked.empty() && all_sleep(parked);
  {
    const std::lock_guard lock(mutex_);
    if (!sleepy) sleepy_ticks_ = 0;
    if (sleepy_ticks_ < kSleepyTicks) return;  // or somebody came meanwhile, who set it back
    sleepy_ticks_ = 0;
    resting_.store(true);
  }
  if (!all_sleep(parked)) resting_.store(false);
}

// Under the mutex. Whether there were none.
bool Engine::resume_ticks() {
  sleepy_ticks_ = 0;
  return resting_.exchange(false);
}

void Engine::waiter_left() {
  if (!resting_.load()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!resume_ticks()) return;
    next_tick_ = Clock::now() + kLeaseTick;
  }
  wake_.raise();
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

void Engine::look_at_deadlines() {
  std::vector<std::shared_ptr<SoftQp>> all;
  {
    const std::lock_guard lock(mutex_);
    all.reserve(entries_.size());
    for (const auto& [token, entry] : entries_) {
      if (auto qp = entry.qp.lock()) all.push_back(std::move(qp));
    }
  }
  for (const auto& qp : all) qp->check_deadlines();
}

std::optional<std::chrono::milliseconds> Engine::time_to_wait() {
  const std::lock_guard lock(mutex_);
  std::optional<Clock::time_point> until;
  const auto by = [&](Clock::time_point time) { until = until ? std::min(*until, time) : time; };
  if ((!parked_.empty() && !resting_.load()) || !waiting_.empty()) by(next_tick_);
  const bool ends = finishing_.load() && !finished_.load();
  if (!entries_.empty() || !closing_.empty() || !arriving_.empty() || ends) by(next_deadlines_);
  if (!until) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
  return std::max(left, 0ms);
}

void Engine::run() {
  std::array<tcp_offload::Ready, 64> ready;
  for (;;) {
    const std::size_t count = sockets_.wait(ready, time_to_wait());
    for (const tcp_offload::Ready& one : std::span(ready).first(count)) {
      if (one.token == kWakeToken) {
        wake_.clear();
        sockets_.modify(wake_.descriptor(), kWakeToken, {true, false});
      } else if (is_closing(one.token)) {
        serve_closing(one.token);
      } else {
        serve(one);
      }
    }
    take_in_closing();
    const auto now = Clock::now();
    if (tick_is_due(now)) tick();
    const bool finishing = finishing_.load();
    if (finishing || now >= next_deadlines_) {
      next_deadlines_ = now + (finishing ? kExitTick : kDeadlineTick);
      look_at_deadlines();
      look_at_closing();
    }
    if (finishing) finish_step();
    if (stopping_.load() && finished_.load()) return;
  }
}

}  // namespace iwarp::verbs::soft
