#include "soft/engine/socket_table.hpp"

#include <algorithm>
#include <utility>

namespace iwarp::verbs::soft {
namespace {

/// How long a poller may be silent before the engine takes its sockets back.
constexpr std::chrono::milliseconds kTick{1};

}  // namespace

// Takes the memory for all that may become of the entry: it must not be missing later.
std::error_code SocketTable::add(const std::shared_ptr<Driven>& driven) {
  const Token token = token_of(*driven);
  const Guard lock(mutex_);
  for (auto* list : {&left_, &left_to_idle_pollers_, &looking_}) {
    if (list->capacity() <= entries_.size()) list->reserve(2 * entries_.size() + 1);
  }
  entries_.insert_or_assign(
      token, Entry{driven, driven->descriptor(), Lease(driven->pollers(), idle_polls_.load())});
  // The engine's thread, which may see the socket ready at once, waits for the lock.
  const Waits waits = driven->waits();
  const auto refused = sockets_.add(driven->descriptor(), token, {waits.input, waits.room});
  if (refused) {
    entries_.erase(token);
    return refused;
  }
  if (waits.looks) {
    looking_.push_back(token);
    resume_ticks();
  }
  // Deadlines are looked at from now on, and what no socket tells of.
  if (entries_.size() == 1 || waits.looks) wake_.raise();
  return {};
}

void SocketTable::remove(Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end()) return;
  sockets_.remove(at->second.descriptor);
  take_back(at->second, driven);
  std::erase(looking_, at->first);
  entries_.erase(at);
}

void SocketTable::want_write(Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end()) return;
  // A poller comes back by itself; one that sleeps, or that looks at ready sockets only, does not.
  const Pollers pollers = driven.pollers();
  if (pollers.poll_each() && !pollers.asleep()) {
    if (at->second.lease.is_left()) return;
    const bool first = left_.empty() || resting_.load();
    if (leave_to_poller(at->second, driven)) {
      if (first) wake_.raise();  // the engine looks after it from now on
      return;
    }
  }
  Waits waits = driven.waits();
  waits.room = true;
  watch(at->first, at->second, waits);
}

void SocketTable::look_again(const Driven& driven) {
  {
    const Guard lock(mutex_);
    const Token token = token_of(driven);
    const bool known = std::ranges::find(looking_, token) != looking_.end();
    if (known || !entries_.contains(token)) return;
    looking_.push_back(token);
    resume_ticks();
  }
  wake_.raise();
}

// Such a thread needs no ticks: it sleeps in a call of ours, and only the handler of a signal can
// keep it from reading what comes.
bool SocketTable::lend(Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end() || !lends_) return false;
  Entry& entry = at->second;
  // Both queues of a connection may be of one thread.
  if (entry.is_lent()) return entry.borrower == std::this_thread::get_id();
  take_back(entry, driven);
  entry.borrower = std::this_thread::get_id();
  entry.unread = false;
  watch(at->first, entry, driven.waits());
  return true;
}

void SocketTable::end_loan(Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end() || at->second.borrower != std::this_thread::get_id()) return;
  end_loan(at->first, at->second, driven);
}

void SocketTable::end_loan(Token token, Entry& entry, const Driven& driven) {
  entry.borrower = {};
  watch(token, entry, driven.waits());
}

void SocketTable::look_at_loan(const Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end() || !at->second.is_lent()) return;
  Entry& entry = at->second;
  const bool before = std::exchange(entry.unread, tcp_offload::is_readable(entry.descriptor));
  if (before && entry.unread) end_loan(at->first, entry, driven);
}

void SocketTable::end_loans() {
  {
    const Guard lock(mutex_);
    if (!std::exchange(lends_, false)) return;
  }
  const Owners owners = all();  // outlive the lock
  const Guard lock(mutex_);
  for (const auto& driven : owners) {
    const auto at = entries_.find(token_of(*driven));
    if (at != entries_.end() && at->second.is_lent()) end_loan(at->first, at->second, *driven);
  }
}

void SocketTable::rearm(const Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at != entries_.end()) watch(at->first, at->second, driven.waits());
}

void SocketTable::rearm_drained(const Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end()) return;
  const Waits waits = driven.waits();
  const bool only_input = waits.input && !waits.room;
  const bool told = at->second.told_of_more && !at->second.lease.is_left();
  if (!only_input || !told) watch(at->first, at->second, waits);
}

// A socket that the system refuses to watch is tried again at each tick. One that is left to a
// poller is watched only for a sleeper that may not be one. Asking for all that comes from now on
// saves a system call for each time that something does; where nothing is to be told any more, that
// has to be said.
void SocketTable::watch(Token token, Entry& entry, const Waits& waits) {
  const bool input = waits.input && !entry.is_lent() && entry.lease.watches_input();
  const tcp_offload::Interest interest{input, waits.room};
  if (!interest.read && !interest.write && !entry.told_of_more) return;
  if (ask(token, entry, interest, interest.read && !interest.write && !entry.lease.is_left())) {
    return;
  }
  if (std::ranges::find(looking_, token) == looking_.end()) looking_.push_back(token);
  resume_ticks();
  wake_.raise();
}

bool SocketTable::ask(Token token, Entry& entry, tcp_offload::Interest interest, bool for_more) {
  using tcp_offload::Repeat;
  if (sockets_.modify(entry.descriptor, token, interest,
                      for_more ? Repeat::kEdge : Repeat::kOnce)) {
    return false;
  }
  entry.told_of_more = for_more;
  return true;
}

bool SocketTable::leave_to_poller(Entry& entry, Driven& driven) {
  if (entry.is_lent()) return false;
  if (!entry.lease.offer(driven.pollers(), idle_polls_.load())) return false;
  if (resume_ticks() || left_.empty()) next_tick_ = Clock::now() + kTick;
  left_.push_back(token_of(driven));
  const bool to_idle_pollers = entry.lease.holder() == Lease::Holder::kIdlePoller;
  if (to_idle_pollers) {
    left_to_idle_pollers_.push_back(token_of(driven));
    unpolled_count_.store(left_to_idle_pollers_.size());
  }
  driven.set_leased(!to_idle_pollers);
  return true;
}

void SocketTable::take_back(Entry& entry, Driven& driven) {
  entry.lease.take_back();
  std::erase(left_, token_of(driven));
  std::erase(left_to_idle_pollers_, token_of(driven));
  unpolled_count_.store(left_to_idle_pollers_.size());
  driven.set_leased(false);
}

bool SocketTable::take_back(Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end() || !at->second.lease.is_left()) return false;
  take_back(at->second, driven);
  return true;
}

bool SocketTable::count_idle_poll() {
  idle_polls_.fetch_add(1, std::memory_order_relaxed);
  return unpolled_count_.load() != 0;
}

void SocketTable::take_unpolled(Owners& into) {
  const Guard lock(mutex_);
  for (const Token token : left_to_idle_pollers_) {
    if (auto driven = entries_.at(token).driven.lock()) into.push_back(std::move(driven));
  }
}

// What is there for a poller to read calls for ticks: they find out whether it comes for it.
SocketTable::Turn SocketTable::turn_of(const tcp_offload::Ready& ready) {
  const Guard lock(mutex_);
  const auto at = entries_.find(ready.token);
  if (at == entries_.end()) return {};
  Entry& entry = at->second;
  Turn turn{entry.driven.lock(), false};
  if (!turn.of) return turn;
  if (entry.is_lent()) {
    turn.for_poller = true;
    return turn;
  }
  turn.for_poller = entry.lease.is_left() || (ready.read && leave_to_poller(entry, *turn.of));
  if (turn.for_poller && ready.read) {
    entry.lease.socket_is_ready();
    if (resume_ticks()) next_tick_ = Clock::now() + kTick;
  }
  return turn;
}

SocketTable::Owners SocketTable::owners_of(const std::vector<Token> SocketTable::*list) {
  Owners owners;
  const Guard lock(mutex_);
  const std::vector<Token>& tokens = this->*list;
  owners.reserve(tokens.size());
  for (const Token token : tokens) {
    if (auto driven = entries_.at(token).driven.lock()) owners.push_back(std::move(driven));
  }
  return owners;
}

SocketTable::Owners SocketTable::left_to_pollers() { return owners_of(&SocketTable::left_); }
SocketTable::Owners SocketTable::looking() { return owners_of(&SocketTable::looking_); }

SocketTable::Owners SocketTable::all() {
  Owners all;
  const Guard lock(mutex_);
  all.reserve(entries_.size());
  for (const auto& [token, entry] : entries_) {
    if (auto driven = entry.driven.lock()) all.push_back(std::move(driven));
  }
  return all;
}

void SocketTable::stop_looking(const Driven& driven) {
  const Guard lock(mutex_);
  std::erase(looking_, token_of(driven));
}

bool SocketTable::tick_is_due(Clock::time_point now) {
  const Guard lock(mutex_);
  if (now < next_tick_ || resting_.load()) return false;
  next_tick_ = now + kTick;
  return true;
}

bool SocketTable::is_abandoned(const Driven& driven) {
  const Guard lock(mutex_);
  const auto at = entries_.find(token_of(driven));
  if (at == entries_.end() || !at->second.lease.is_left()) return false;
  const auto verdict = at->second.lease.tick(driven.pollers(), idle_polls_.load(), driven.busy());
  if (verdict == Lease::Verdict::kWatch) watch(at->first, at->second, driven.waits());
  return verdict == Lease::Verdict::kTakeBack;
}

bool SocketTable::all_sleep_on() {
  const Owners left = left_to_pollers();  // outlives the lock
  const Guard lock(mutex_);
  for (const auto& driven : left) {
    const auto at = entries_.find(token_of(*driven));
    if (at == entries_.end() || !at->second.lease.is_left()) continue;
    if (!at->second.lease.sleeps_on(driven->pollers())) return false;
  }
  return true;
}

// A sleeper leaves before it says so, and this looks again after having said that it rests: one of
// the two sees the other.
void SocketTable::rest_if_all_sleep() {
  {
    const Guard lock(mutex_);
    if (left_.empty() || !looking_.empty()) return;
    for (const Token token : left_) {
      if (!entries_.at(token).lease.needs_no_ticks()) return;
    }
    resting_.store(true);
  }
  if (!all_sleep_on()) resting_.store(false);
}

// Whether there were no ticks.
bool SocketTable::resume_ticks() { return resting_.exchange(false); }

void SocketTable::sleeper_left() {
  if (!resting_.load()) return;
  {
    const Guard lock(mutex_);
    if (!resume_ticks()) return;
    next_tick_ = Clock::now() + kTick;
  }
  wake_.raise();
}

std::optional<SocketTable::Clock::time_point> SocketTable::next_tick() {
  const Guard lock(mutex_);
  const bool due = (!left_.empty() && !resting_.load()) || !looking_.empty();
  return due ? std::optional(next_tick_) : std::nullopt;
}

bool SocketTable::empty() {
  const Guard lock(mutex_);
  return entries_.empty();
}

}  // namespace iwarp::verbs::soft
