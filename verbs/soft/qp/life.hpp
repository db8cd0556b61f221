#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "iwarp/connection/deadlines.hpp"
#include "iwarp/connection/life.hpp"
#include "iwarp/provider/lock.hpp"
#include "iwarp/rdmap/terminate.hpp"
#include "iwarp/tcp_offload/stream.hpp"
#include "iwarp/verbs/connection.hpp"
#include "soft/qp/diagnose.hpp"
#include "soft/qp/wanted.hpp"
#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// How a queue pair's connection stands, why it ended, and until when it waits. Any thread; the
/// life itself is changed under one lock and read without it.
class QpLife {
 public:
  QpLife(connection::Program program, const connection::Patience& patience, TimeSource& time,
         Wanted& wanted)
      : time_(time), wanted_(wanted), patience_(patience), life_({.program = program}) {}

  [[nodiscard]] connection::Life now() const { return life_.load(); }
  [[nodiscard]] connection::Course course() const { return now().course; }
  [[nodiscard]] bool is_over() const { return course() == connection::Course::kClosed; }
  /// Whether nothing comes in any more.
  [[nodiscard]] bool input_ended() const { return connection::input_has_ended(now()); }
  /// Whether both halves have ended, and the peer's TCP still owes acknowledgements.
  [[nodiscard]] bool awaits_delivery() const {
    return input_ended() && course() == connection::Course::kDraining;
  }
  /// Whether the program has called close() or abort().
  [[nodiscard]] bool given_up() const { return now().program == connection::Program::kGone; }
  /// Whether the program has asked for a graceful end, which is under way.
  [[nodiscard]] bool submits_no_more() const;
  /// Whether send requests complete as flushed.
  [[nodiscard]] bool flushes_sends() const;
  /// Whether receives do. A graceful end goes on receiving until the peer's FIN, but for close(),
  /// which drops what comes.
  [[nodiscard]] bool flushes_receives() const;

  /// Enters RDMA mode on `stream`, if the connection has not been given up and `claim`, called with
  /// the lock held, says yes.
  template <typename Claim>
  bool enter(connection::LifeEvent event, tcp_offload::Stream& stream, bool awaits_first,
             std::chrono::milliseconds idle, Claim claim) {
    const Guard lock(mutex_);
    const auto next = connection::step(now(), event).next;
    if (next == now() || !claim()) return false;
    stream_ = &stream;
    deadlines_.begin(awaits_first, idle, time_.running());
    life_.store(next);
    return true;
  }
  /// From now on the program hears of its peer's end at once, see connection::Program::kUnaware.
  /// False, and nothing changes, once RDMA mode has begun.
  bool hear_of_end();
  /// What follows from an event: FIN or a reset leave, the halves get work. With `only_in`:
  /// nothing, if the connection has left that course meanwhile.
  void apply(connection::LifeEvent event, std::optional<connection::Course> only_in = std::nullopt);
  /// The connection is given up.
  void lose(Diagnosis why);
  /// The same for a fault of this side that no Terminate tells of.
  void lose(const std::string& reason);
  /// TCP takes nothing any more; what had come before is still read.
  void lose_output(const std::error_code& error);
  /// What TCP said then.
  [[nodiscard]] std::error_code send_error() const;
  /// Says why the connection ends. The first cause counts; a fault outranks a graceful end under
  /// way.
  void explain(Diagnosis why);
  /// An error that the peer is to be told of: a Terminate is to leave, unless one has.
  void order_terminate(const rdmap::Terminate& message, std::string reason);
  /// The Terminate that is to leave, if one is; it counts as sent then. None as long as a responder
  /// may send nothing.
  [[nodiscard]] std::optional<rdmap::Terminate> take_terminate();
  [[nodiscard]] bool owes_terminate() const;
  /// The peer's Terminate has come.
  void on_peer_terminate(const rdmap::Terminate& message);

  [[nodiscard]] bool is_graceful() const;
  [[nodiscard]] Diagnosis diagnosis() const;
  /// What the program is told: nothing of a graceful end. Also where there is no memory for the
  /// sentence.
  [[nodiscard]] Error error_of_end() const;
  [[nodiscard]] std::optional<TerminateInfo> terminate_sent() const;
  [[nodiscard]] std::optional<TerminateInfo> terminate_received() const;

  // connection::Deadlines
  [[nodiscard]] bool depends_on_progress() const;
  void observe(const connection::Progress& progress);
  [[nodiscard]] connection::Overdue overdue() const;
  [[nodiscard]] bool has_deadline() const;

 private:
  void explain_locked(Diagnosis why) IWARP_REQUIRES(mutex_);
  void explain_lost_output(const connection::Life& before, const connection::Life& next) noexcept
      IWARP_REQUIRES(mutex_);
  void enter(connection::Course course);

  TimeSource& time_;
  Wanted& wanted_;
  const connection::Patience patience_;
  mutable Mutex mutex_;
  std::atomic<connection::Life> life_;  // changed under mutex_
  static_assert(decltype(life_)::is_always_lock_free);

  connection::Deadlines deadlines_ IWARP_GUARDED_BY(mutex_){patience_};
  tcp_offload::Stream* stream_ IWARP_GUARDED_BY(mutex_) = nullptr;
  Diagnosis diagnosis_ IWARP_GUARDED_BY(mutex_);
  bool graceful_ IWARP_GUARDED_BY(mutex_) = true;
  std::error_code send_error_ IWARP_GUARDED_BY(mutex_);
  std::optional<TerminateInfo> terminate_sent_ IWARP_GUARDED_BY(mutex_);
  std::optional<TerminateInfo> terminate_received_ IWARP_GUARDED_BY(mutex_);
  std::optional<rdmap::Terminate> ordered_terminate_ IWARP_GUARDED_BY(mutex_);
};

}  // namespace iwarp::verbs::soft
