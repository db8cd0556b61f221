#include "file_service/server/bad_ends.hpp"

#include <algorithm>
#include <iwarp/verbs/fair_share.hpp>

#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {

template <typename Change>
void BadEnds::note(const verbs::Address& peer, const Change& change) {
  const auto at = networks_.push_back({.network = verbs::counted_network(peer)}).first;
  networks_.modify(at, change);
  networks_.relocate(networks_.end(), at);
  if (networks_.size() > kMostHeldBack) networks_.pop_front();
}

void BadEnds::note_bad(const verbs::Address& peer, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  raise_alarm(now);
  note(peer, [this, now](Network& one) {
    const bool again = under_attack() && one.attacks;
    one.wait = again ? std::min<Clock::duration>(2 * one.wait, kLongestHeldBack) : kHeldBack;
    one.held_until = now + one.wait;
    one.attacks = under_attack();
    one.told = false;
  });
}

void BadEnds::note_good(const verbs::Address& peer, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  note(peer, [now](Network& one) {
    one.held_until = now;
    one.trusted_until = now + kTrusted;
    one.attacks = false;
  });
}

bool BadEnds::knows(const verbs::Address& peer, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  const auto& by_network = networks_.get<ByNetwork>();
  const auto at = by_network.find(verbs::counted_network(peer));
  return at != by_network.end() && at->trusted_until > now;
}

bool BadEnds::holds_back(const verbs::Address& peer, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  const auto one = held(peer, now);
  auto& by_network = networks_.get<ByNetwork>();
  if (one == by_network.end()) return false;
  raise_alarm(now);
  by_network.modify(one, [](Network& told) { told.told = true; });
  return true;
}

bool BadEnds::shuts_out(const verbs::Address& peer, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  const auto one = held(peer, now);
  if (one == networks_.get<ByNetwork>().end() || !one->told) return false;
  raise_alarm(now);
  return true;
}

// One that took part in an attack waits to the end, be the attack over; others only during one.
auto BadEnds::held(const verbs::Address& peer, Clock::time_point now)
    -> Networks::index<ByNetwork>::type::iterator {
  auto& by_network = networks_.get<ByNetwork>();
  const auto at = by_network.find(verbs::counted_network(peer));
  if (at == by_network.end() || at->held_until <= now || at->trusted_until > now) {
    return by_network.end();
  }
  calm_down(now);
  return at->attacks || under_attack() ? at : by_network.end();
}

bool BadEnds::under_attack() const { return alarm_ > kBadEndsOfAnAttack; }

// Twice what makes an attack at most, so that it is over soon after its end.
void BadEnds::raise_alarm(Clock::time_point now) {
  calm_down(now);
  alarm_ = std::min(alarm_ + 1, 2 * kBadEndsOfAnAttack);
}

void BadEnds::calm_down(Clock::time_point now) {
  const std::chrono::duration<double> since = now - alarm_at_;
  alarm_ = std::max(alarm_ - since.count() * kBadEndsASecond, 0.0);
  alarm_at_ = now;
}

}  // namespace iwarp::cli::file_service
