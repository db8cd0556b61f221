#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "iwarp/connection/life.hpp"

namespace iwarp::connection {

/// How long a connection waits for its peer.
struct Patience {
  std::chrono::milliseconds first_fpdu{10'000};  ///< Responder: from its Reply to the peer's RTR.
  std::chrono::milliseconds linger{60'000};      ///< At the end: without anything that moves.
  std::chrono::milliseconds unreachable{
      1'000};                         ///< Program::kUnaware: from the peer's end to ours.
  std::chrono::milliseconds idle{0};  ///< Without anything that moves; 0: for ever.
};

/// How far a connection has come: something moves while this changes.
struct Progress {
  std::uint64_t sent = 0;            ///< Octets that TCP has taken.
  std::uint64_t unacknowledged = 0;  ///< Of those, what TCP still owes the peer.
  std::uint64_t received = 0;        ///< Octets that have come in.

  bool operator==(const Progress&) const = default;
};

/// What has not come in time.
enum class Overdue : std::uint8_t {
  kNothing,
  kFirstFpdu,     ///< The peer's RTR indication (RFC 6581 §9.2).
  kSending,       ///< What was submitted, or a Terminate, cannot be handed to TCP.
  kDelivery,      ///< Acknowledgements, or the peer's FIN.
  kAnswerToGone,  ///< The program has been kept unaware of the peer's end long enough.
  kAnyMovement,   ///< The connection is idle.
};

/// The deadlines of one connection. The time is an argument, and may be any that does not run while
/// the process stands still. Not thread-safe.
class Deadlines {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Deadlines(const Patience& patience) : patience_(patience) {}

  /// RDMA mode begins. `awaits_first`: the peer is to send an RTR indication.
  void begin(bool awaits_first, std::chrono::milliseconds idle, Time now);
  /// The connection's life has taken a step.
  void on_step(const Life& before, const Life& next, Time now);
  /// Has a look at what moves. An end takes the time that it takes, as long as something moves:
  /// octets that TCP takes or the peer acknowledges, and after a graceful end also those that the
  /// peer still sends (RFC 5041 §6.2.1). What a peer sends after a fault does not count: it would
  /// decide how long this goes on. What TCP owes counts for idleness, too: a peer that takes in
  /// slowly what was sent is not idle.
  void observe(const Life& life, const Progress& progress, Time now);
  /// Whether observe() is of use in that state: finding out what moves has its price.
  [[nodiscard]] bool depends_on_progress(const Life& life) const;
  /// What is overdue. Before the connection is judged by it, what may have come meanwhile is to be
  /// read and observed.
  [[nodiscard]] Overdue overdue(const Life& life, Time now) const;
  /// Whether there is any, but for idleness.
  [[nodiscard]] bool any() const { return step_ || gone_; }

 private:
  Patience patience_;
  std::optional<Time> step_;   // of the course's next step
  std::optional<Time> gone_;   // while the program is unaware that its peer has gone
  Progress progress_;          // at the last look
  std::optional<Time> moved_;  // when it changed
};

}  // namespace iwarp::connection
