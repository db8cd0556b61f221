#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

/// What IWARP_STATS=1 tells of one connection.
struct ConnectionStats {
  std::uint32_t queue_pair = 0;
  /// Empty if the connection was never established.
  std::optional<verbs::Endpoint> local, remote;
  verbs::QpCounters counters;
  std::optional<verbs::TerminateInfo> sent, received;
  verbs::Diagnosis diagnosis;
};

/// Five lines: the addresses, what was done, what went over the wire, Terminates, and how it ended.
std::string describe(const ConnectionStats& stats);

/// Prints the statistics of a queue pair's connection on standard error, once: when the program
/// destroys the queue pair, or at the latest when it ends by returning from main() or by exit(). A
/// queue pair that never had a connection is not mentioned. Thread-safe. A process that was forked
/// leaves the connections of its parent to that.
class QpStats {
 public:
  /// Nothing unless IWARP_STATS is 1.
  static std::shared_ptr<QpStats> if_wanted();

  /// The queue pair, once there is one. It is not kept alive.
  void follow(const std::shared_ptr<const verbs::provider::Qp>& qp);
  /// Whatever happens to its connection, before the program hears of it.
  void note(const verbs::ConnectionEvent& event);
  /// Prints, if that has not been done and the queue pair is still there.
  void print();

 private:
  std::mutex mutex_;
  std::weak_ptr<const verbs::provider::Qp> qp_;
  std::optional<verbs::Endpoint> local_, remote_;
  bool printed_ = false;
};

}  // namespace iwarp::compat
