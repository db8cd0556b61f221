#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <system_error>
#include <vector>

#include "iwarp/provider/lock.hpp"
#include "iwarp/tcp_offload/readiness.hpp"
#include "soft/engine/driven.hpp"
#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// The connections behind a completion queue, and what its pollers wait for: few are looked at by
/// each poll, of many those whose socket is ready. Thread-safe.
class Attached {
 public:
  /// Shows in `signs` whether each poll looks at each.
  explicit Attached(PollSigns& signs) : signs_(signs) {}

  /// Errors: the system's, if it refuses to watch the socket; the connection is attached all the
  /// same.
  [[nodiscard]] std::error_code attach(Driven& driven);
  /// Returns when no poller is inside `driven` on behalf of this queue.
  void detach(Driven& driven);
  /// Stops waiting on a socket that has ended.
  void forget_descriptor(int descriptor);
  /// Those that sleep are not woken by what comes to one that does not read, until it does; once by
  /// its end.
  void set_reading(const Driven& driven, bool reads);
  [[nodiscard]] std::size_t count() const { return count_.load(); }

  /// A poll's turn.
  void drive();
  /// The turn of a thread that the set has told of something.
  void drive_ready();
  /// Has the socket of the only connection lent to the calling thread, which sleeps at
  /// descriptor(). False if there are several, or none, or if that cannot be.
  [[nodiscard]] bool borrow(SocketService& from);
  /// Gives it back, if it is still there.
  void give_back(SocketService& to);
  /// Sends what was left for the poller: it is about to sleep. Nothing is left where there are
  /// many.
  void flush();
  /// Waits until sockets are ready, wake() is called or the time is over, and drives those that
  /// are ready. Returns how many the set told of. Without a set (the system has no descriptors
  /// left) it drives each, and sleeps for a moment unless `satisfied`.
  std::size_t wait_and_drive(std::chrono::milliseconds timeout,
                             const std::function<bool()>& satisfied);
  /// Drives all that are ready, until `satisfied`: those that have been told of go behind the
  /// others in the set.
  void drive_all_ready(const std::function<bool()>& satisfied);

  /// Ends a wait for what another thread completes.
  void wake();
  /// Before the caller looks for completions: what makes one from now on raises it anew.
  void clear_wake();
  /// Makes the set, if there can be one, before a thread is said to sleep on it.
  void prepare_to_sleep() { sockets_if_any(); }
  /// Readable while a socket is ready or wake() was called. Throws std::system_error.
  [[nodiscard]] int descriptor() { return sockets().descriptor(); }

 private:
  struct Unwatched {  // whose socket the system refuses to watch
    Driven* driven;
    std::error_code why;
  };
  void drive_each();
  [[nodiscard]] bool has_sockets() IWARP_REQUIRES(drive_mutex_);
  tcp_offload::ReadinessSet& sockets();
  tcp_offload::ReadinessSet* sockets_if_any();
  enum class Complete : bool { kNeedNotBe, kMustBe };
  tcp_offload::ReadinessSet* make_sockets(std::vector<Unwatched>& unwatched, Complete complete)
      IWARP_REQUIRES(drive_mutex_);

  PollSigns& signs_;
  Mutex drive_mutex_ IWARP_ACQUIRED_BEFORE(lazy_mutex_);        // held while a poller drives
  std::vector<Driven*> driven_ IWARP_GUARDED_BY(drive_mutex_);  // by address
  std::atomic<std::size_t> count_{0};

  Mutex lazy_mutex_;
  std::unique_ptr<tcp_offload::ReadinessSet> owner_
      IWARP_GUARDED_BY(lazy_mutex_);  // once a thread sleeps, or there are many
  std::atomic<tcp_offload::ReadinessSet*> sockets_{nullptr};
  std::unique_ptr<tcp_offload::EventCount> wake_
      IWARP_GUARDED_BY(lazy_mutex_);  // made with the set
  std::atomic<bool> woken_{false};    // it is raised
};

}  // namespace iwarp::verbs::soft
