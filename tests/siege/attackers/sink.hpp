#pragma once

#include <deque>
#include <vector>

#include "attacker.hpp"

namespace iwarp::siege {

/// A plain TCP server: takes every connection, reads and throws away. What attackers cost the
/// machine when nobody minds them.
class Sink {
 public:
  /// Resets the oldest `cuts` connections a second, as the server under siege does, so that as
  /// many attackers come back.
  explicit Sink(double cuts);
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink();

  [[nodiscard]] std::uint16_t port() const;
  void turn();

 private:
  struct Guest {
    int fd;
    std::uint64_t visit;
  };
  void accept_all();
  void read(int fd);
  void cut();
  void close(int fd);

  int epoll_, listener_;
  double cuts_;
  double allowance_ = 0;
  Clock::time_point counted_ = Clock::now();
  std::deque<Guest> by_age_;
  std::vector<std::uint64_t> visits_;  ///< By descriptor: which visit it is of, 0 if none.
  std::uint64_t last_visit_ = 0;
};

}  // namespace iwarp::siege
