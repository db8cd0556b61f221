#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "iwarp/provider/lock.hpp"
#include "iwarp/tcp_offload/readiness.hpp"
#include "soft/engine/at_exit.hpp"
#include "soft/engine/attempts.hpp"
#include "soft/engine/closing_streams.hpp"
#include "soft/engine/half_fpdus.hpp"
#include "soft/engine/socket_table.hpp"
#include "soft/engine/system_time.hpp"
#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// The thread that serves the sockets that no other thread polls: one-sided traffic, sleepers,
/// closing streams, time-outs. It stands aside for pollers: a socket whose completion queue is
/// being polled is left to the poller, without being watched, until a tick of about a millisecond
/// finds that the polling has stopped. A poller that sleeps at its completion queue is left alone,
/// as long as it wakes up for what comes. While all of them sleep, and nothing comes, there are no
/// ticks. A socket for whose connection no thread polls is left to threads that poll other queues
/// in vain, if there are any: these have the processor anyway, which the engine would have to share
/// with them. To a thread that sleeps at a socket itself it is lent meanwhile. Thread-safe; none of
/// the services calls back but drive_unpolled() and take_back().
class Engine final : public SocketService, public PollerService {
 public:
  /// Starts its thread. Throws std::system_error (no descriptor, no thread), std::bad_alloc.
  Engine();
  /// Sees closing streams off, as long as something moves, then ends.
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] std::error_code add(const std::shared_ptr<Driven>& driven) override {
    return table_.add(driven);
  }
  void remove(Driven& driven) override { table_.remove(driven); }
  void want_write(Driven& driven) override { table_.want_write(driven); }
  void want_read(Driven& driven) override { table_.rearm(driven); }
  [[nodiscard]] bool lend(Driven& driven) override { return table_.lend(driven); }
  void end_loan(Driven& driven) override { table_.end_loan(driven); }
  void look_again(Driven& driven) override { table_.look_again(driven); }
  void see_off(ClosingStream closing) override { closing_.see_off(std::move(closing)); }

  void drive_unpolled() override;
  void take_back(const PollSigns& armed) override;
  void sleeper_left() override { table_.sleeper_left(); }

  /// The room for halves of FPDUs of the connections that it serves.
  [[nodiscard]] HalfFpduRoom& halves() { return halves_; }
  /// Its clock.
  [[nodiscard]] TimeSource& time() { return time_; }
  /// Closes each connection that is left, and returns when what had completed has arrived, or
  /// nothing moves any more: for the end of the process; see AtExit.
  void finish();
  /// Whether the caller is its thread.
  [[nodiscard]] bool is_own_thread() const {
    return std::this_thread::get_id() == thread_.get_id();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void serve_any(const tcp_offload::Ready& ready);
  void serve(const tcp_offload::Ready& ready);
  [[nodiscard]] bool take_step();
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_wait();
  void tick();
  void take_back(Driven& driven);
  void look_at_waiting();
  void make_room_if_short(Clock::time_point now);

  tcp_offload::ReadinessSet sockets_;
  tcp_offload::EventCount wake_;
  SystemTime time_;
  SocketTable table_{sockets_, wake_};
  HalfFpduLedger halves_{[this] { wake_.raise(); }};
  AtExit at_exit_;
  std::atomic<bool> stopping_{false};
  Mutex driving_unpolled_;
  SocketTable::Owners unpolled_ IWARP_GUARDED_BY(driving_unpolled_);  // empty between two calls

  // The thread's own.
  Attempts attempts_;
  ClosingStreams closing_{sockets_, wake_, attempts_};
  Clock::time_point next_deadlines_{};
  Clock::time_point next_look_at_halves_{};

  std::thread thread_;
};

}  // namespace iwarp::verbs::soft
