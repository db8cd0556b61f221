#pragma once

#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "attacker.hpp"

namespace iwarp::siege {

/// All attackers, in one thread. Together they open at most Orders::rate connections a second.
class Army {
 public:
  explicit Army(const Orders& orders);
  Army(const Army&) = delete;
  Army& operator=(const Army&) = delete;
  ~Army();

  /// Serves them for one round of waiting, some ten milliseconds at most.
  void turn();
  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] std::size_t connected() const;

 private:
  struct Appointment {
    Clock::time_point time;
    std::size_t number;
    bool operator>(const Appointment& other) const { return time > other.time; }
  };

  void let_in(Clock::time_point now);
  void keep_appointments(Clock::time_point now);
  void note(std::size_t number);
  [[nodiscard]] int patience() const;

  Orders orders_;
  int epoll_;
  Tally tally_;
  std::vector<std::unique_ptr<Attacker>> attackers_;
  /// When each is due; entries that have been overtaken are passed over.
  std::priority_queue<Appointment, std::vector<Appointment>, std::greater<>> appointments_;
  std::vector<Clock::time_point> noted_;  ///< The last appointment of each.
  std::deque<std::size_t> queue_;         ///< They wait for their turn to connect.
  double allowance_ = 0;                  ///< Connections that may be opened now.
  Clock::time_point counted_ = Clock::now();
};

}  // namespace iwarp::siege
