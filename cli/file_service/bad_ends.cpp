#include "file_service/bad_ends.hpp"

#include <algorithm>
#include <iwarp/verbs/fair_share.hpp>

#include "file_service/limits.hpp"

namespace iwarp::cli::file_service {

template <typename Change>
void BadEnds::note(const boost::asio::ip::address& peer, const Change& change) {
  const auto at = networks_.push_back({verbs::counted_network(peer), {}, {}}).first;
  networks_.modify(at, change);
  networks_.relocate(networks_.end(), at);
  if (networks_.size() > kMostHeldBack) networks_.pop_front();
}

void BadEnds::note_bad(const boost::asio::ip::address& peer, Clock::time_point now) {
  raise_alarm(now);
  note(peer, [now](Network& one) { one.held_until = now + kHeldBack; });
}

void BadEnds::note_good(const boost::asio::ip::address& peer, Clock::time_point now) {
  note(peer, [now](Network& one) {
    one.held_until = now;
    one.trusted_until = now + kTrusted;
  });
}

bool BadEnds::holds_back(const boost::asio::ip::address& peer, Clock::time_point now) {
  const auto& by_network = networks_.get<ByNetwork>();
  const auto at = by_network.find(verbs::counted_network(peer));
  if (at == by_network.end() || at->held_until <= now || at->trusted_until > now) return false;
  calm_down(now);
  if (alarm_ <= kBadEndsOfAnAttack) return false;
  raise_alarm(now);
  return true;
}

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
