#include <algorithm>

#include "soft/engine.hpp"
#include "soft/socket_token.hpp"
#include "soft/soft_cq.hpp"
#include "soft/soft_qp.hpp"

/// Which sockets the engine leaves to pollers, and when it takes them back.
namespace iwarp::verbs::soft {
namespace {

bool has_waiter(const SoftQp& qp) { return qp.send_cq().has_waiter() || qp.recv_cq().has_waiter(); }

bool armed(const SoftQp& qp) { return qp.send_cq().armed() || qp.recv_cq().armed(); }

}  // namespace

std::uint32_t Engine::sign_of(const SoftQp& qp) {
  return qp.send_cq().lease_sign() + qp.recv_cq().lease_sign();
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
  watch(at->first, at->second, {at->second.wants_reads(qp), true});
}

// Under the mutex. A socket that the system refuses to watch is tried again at each tick.
void Engine::watch(Token token, const Entry& entry, tcp_offload::Interest interest) {
  if (!sockets_.modify(entry.descriptor, token, interest)) return;
  if (std::ranges::find(waiting_, token) == waiting_.end()) waiting_.push_back(token);
  resume_ticks();
  wake_.raise();
}

void Engine::rearm(const SoftQp& qp) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(token_of(qp));
  if (at == entries_.end()) return;
  const tcp_offload::Interest interest{at->second.wants_reads(qp), qp.blocked()};
  if (interest.read || interest.write) watch(at->first, at->second, interest);
}

// One that is left to a poller is watched only for a sleeper that may not be one.
bool Engine::Entry::wants_reads(const SoftQp& of) const {
  return of.reads() && (!parked || sleeper.is_watched());
}

// Whether a thread has polled for it, or for others in vain, since the last look.
bool Engine::has_poller(Entry& entry, const SoftQp& qp) {
  const std::uint32_t sign = sign_of(qp);
  const std::uint32_t helps = helps_.load();
  const bool moved = std::exchange(entry.seen_sign, sign) != sign;
  if (moved) entry.sleeper.heard();
  const bool polled = moved || (has_waiter(qp) && entry.sleeper.is_trusted());
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

// There is something to read for a poller: the ticks find out whether it comes for it.
void Engine::call_poller(Entry& entry) {
  entry.sleeper.socket_is_ready();
  if (resume_ticks()) next_tick_ = Clock::now() + kLeaseTick;
}

void Engine::take_back(Token token, Entry& entry) {
  entry.parked = entry.lent = false;
  entry.sleeper.unwatch();
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

// At a tick: whether no thread has polled for it since the last, nor sleeps where it would wake up.
bool Engine::abandoned(const SoftQp& qp) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(token_of(qp));
  if (at == entries_.end() || !at->second.parked) return false;
  if (armed(qp)) return true;
  // One poll may take longer than a tick where there is much to place.
  if (!has_poller(at->second, qp)) return !qp.busy();
  if (at->second.lent || !has_waiter(qp)) return false;
  const Sleeper::Step step = at->second.sleeper.tick();
  if (step == Sleeper::Step::kWatch) {
    watch(at->first, at->second, {at->second.wants_reads(qp), qp.blocked()});
  }
  return step == Sleeper::Step::kTakeBack;
}

// Whether no sleeper has woken up since the last tick.
bool Engine::all_sleep_on() {
  const auto parked = owners_of(parked_);  // outlives the lock
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(parked, [this](const auto& qp) {
    const auto at = entries_.find(token_of(*qp));
    if (at == entries_.end() || !at->second.parked) return true;
    return has_waiter(*qp) && at->second.seen_sign == sign_of(*qp);
  });
}

// While every socket that is left to a poller is left to one that sleeps, and is watched, nothing
// is missed without ticks. A sleeper leaves before it says so, and this looks again after having
// said that it rests: one of the two sees the other.
void Engine::rest_if_all_sleep() {
  {
    const std::lock_guard lock(mutex_);
    const bool sleepy = std::ranges::all_of(
        parked_, [this](Token token) { return entries_[token].sleeper.is_asleep(); });
    if (parked_.empty() || !sleepy || !waiting_.empty()) return;
    resting_.store(true);
  }
  if (!all_sleep_on()) resting_.store(false);
}

// Under the mutex. Whether there were none.
bool Engine::resume_ticks() { return resting_.exchange(false); }

void Engine::waiter_left() {
  if (!resting_.load()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!resume_ticks()) return;
    next_tick_ = Clock::now() + kLeaseTick;
  }
  wake_.raise();
}

}  // namespace iwarp::verbs::soft
