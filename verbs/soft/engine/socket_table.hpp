#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "iwarp/provider/lock.hpp"
#include "iwarp/tcp_offload/readiness.hpp"
#include "soft/engine/driven.hpp"
#include "soft/engine/lease.hpp"

namespace iwarp::verbs::soft {

/// The sockets of connections that an engine serves: what the engine is told of each, which of them
/// are left to threads that poll, and which connections wait for what no socket tells of. Every
/// member may be called from any thread, those below `engine` by the engine's. None calls a
/// connection but to ask what it waits for; a connection is never released with the lock held,
/// since its end removes it from here.
class SocketTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Owners = std::vector<std::shared_ptr<Driven>>;

  /// Watches sockets with `sockets`, and raises `wake` when the engine's thread has to look anew
  /// how long it may sleep.
  SocketTable(tcp_offload::ReadinessSet& sockets, tcp_offload::EventCount& wake)
      : sockets_(sockets), wake_(wake) {}

  // As SocketService.
  [[nodiscard]] std::error_code add(const std::shared_ptr<Driven>& driven);
  void remove(Driven& driven);
  void want_write(Driven& driven);
  void look_again(const Driven& driven);
  [[nodiscard]] bool lend(Driven& driven);
  void end_loan(Driven& driven);

  /// Has the engine told when that comes which the connection waits for: now if it is there.
  void rearm(const Driven& driven);
  /// The engine has read all that there was: the same, if it is not told of more anyway.
  void rearm_drained(const Driven& driven);
  /// The engine has the socket again. False if it had.
  bool take_back(Driven& driven);
  /// A thread polls in vain. Those whose sockets are left to such threads, if any, are added to
  /// `into`.
  void take_unpolled(Owners& into);
  /// Whether there are any, as of now; counts the poll.
  [[nodiscard]] bool count_idle_poll();
  /// A thread that slept at a completion queue has woken up.
  void sleeper_left();

  // engine
  /// A socket that became ready.
  struct Turn {
    std::shared_ptr<Driven> of;  ///< None if it has gone.
    bool for_poller = false;     ///< A poller reads it, or a thread to which it is lent.
  };
  [[nodiscard]] Turn turn_of(const tcp_offload::Ready& ready);
  [[nodiscard]] Owners all();
  [[nodiscard]] Owners left_to_pollers();
  [[nodiscard]] Owners looking();
  /// Takes a lent socket back if there is something to read at the second look in a row: the
  /// handler of a signal may keep the borrower for long, or not return into its sleep. A borrower
  /// that reads on and on gives it back itself.
  void look_at_loan(const Driven& driven);
  /// Takes them all back, and lends no more.
  void end_loans();
  /// The connection waits for a socket again, if for anything.
  void stop_looking(const Driven& driven);
  [[nodiscard]] bool tick_is_due(Clock::time_point now);
  /// At a tick: whether the engine has to take the socket back.
  [[nodiscard]] bool is_abandoned(const Driven& driven);
  /// Ends the ticks while every socket that is left to a poller is left to one that sleeps, and is
  /// watched: nothing is missed then.
  void rest_if_all_sleep();
  /// When the next tick is needed, if one is.
  [[nodiscard]] std::optional<Clock::time_point> next_tick();
  [[nodiscard]] bool empty();

 private:
  using Token = std::uint64_t;
  struct Entry {
    std::weak_ptr<Driven> driven;
    int descriptor = -1;
    Lease lease;
    /// Whether the set tells of all that comes, without being asked anew each time.
    bool told_of_more = false;
    std::thread::id borrower{};  // which sleeps at it
    bool unread = false;         // there was something to read at the last look, while it was lent

    [[nodiscard]] bool is_lent() const { return borrower != std::thread::id{}; }
  };

  [[nodiscard]] Owners owners_of(const std::vector<Token> SocketTable::*list);
  void watch(Token token, Entry& entry, const Waits& waits) IWARP_REQUIRES(mutex_);
  [[nodiscard]] bool ask(Token token, Entry& entry, tcp_offload::Interest interest, bool for_more)
      IWARP_REQUIRES(mutex_);
  bool leave_to_poller(Entry& entry, Driven& driven) IWARP_REQUIRES(mutex_);
  void take_back(Entry& entry, Driven& driven) IWARP_REQUIRES(mutex_);
  void end_loan(Token token, Entry& entry, const Driven& driven) IWARP_REQUIRES(mutex_);
  bool resume_ticks() IWARP_REQUIRES(mutex_);
  [[nodiscard]] bool all_sleep_on();

  tcp_offload::ReadinessSet& sockets_;
  tcp_offload::EventCount& wake_;
  Mutex mutex_;
  std::unordered_map<Token, Entry> entries_ IWARP_GUARDED_BY(mutex_);
  std::vector<Token> left_ IWARP_GUARDED_BY(mutex_);                  // to pollers
  std::vector<Token> left_to_idle_pollers_ IWARP_GUARDED_BY(mutex_);  // of those
  std::vector<Token> looking_ IWARP_GUARDED_BY(mutex_);               // for what no socket tells of
  Clock::time_point next_tick_ IWARP_GUARDED_BY(mutex_){};
  bool lends_ IWARP_GUARDED_BY(mutex_) = true;
  std::atomic<std::size_t> unpolled_count_{0};  // as long as left_to_idle_pollers_
  std::atomic<std::uint32_t> idle_polls_{0};
  std::atomic<bool> resting_{false};  // no ticks until a sleeper has left
};

}  // namespace iwarp::verbs::soft
