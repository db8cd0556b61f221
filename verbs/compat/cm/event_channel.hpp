#pragma once

#include <rdma/rdma_cma.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "events/event_queue.hpp"
#include "events/given_events.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/connection.hpp"

namespace iwarp::compat {

/// How many more requests may wait for the program to take their events from the channel, as the
/// kernel counts what rdma_listen() is given. Any thread.
class Backlog {
 public:
  explicit Backlog(int most) : left_(most) {}
  /// Whether there is room for one more, which it has then.
  bool take() {
    int left = left_.load();
    while (left > 0 && !left_.compare_exchange_weak(left, left - 1)) {
    }
    return left > 0;
  }
  void give_back() { left_.fetch_add(1); }

 private:
  std::atomic<int> left_;
};

/// A request's place in the backlog, until its event is taken or destroyed.
class BacklogPlace {
 public:
  BacklogPlace() = default;
  /// Takes one, if there is room.
  explicit BacklogPlace(std::shared_ptr<Backlog> backlog) {
    if (backlog->take()) backlog_ = std::move(backlog);
  }
  BacklogPlace(BacklogPlace&&) noexcept = default;
  BacklogPlace& operator=(BacklogPlace&& other) noexcept {
    if (this != &other) {
      give_back();
      backlog_ = std::move(other.backlog_);
    }
    return *this;
  }
  ~BacklogPlace() { give_back(); }

  explicit operator bool() const { return backlog_ != nullptr; }
  void give_back() {
    if (const auto backlog = std::exchange(backlog_, nullptr)) backlog->give_back();
  }

 private:
  std::shared_ptr<Backlog> backlog_;
};

/// An event, from its happening to its acknowledgement.
struct CmEvent {
  rdma_cm_event shown{};
  std::vector<std::byte> private_data;
  GivenEvents* counted_by = nullptr;  ///< Of the id that is not destroyed before all are back.
  BacklogPlace place;                 ///< Of a request.

  explicit CmEvent(rdma_cm_event_type type, int status = 0) {
    shown.event = type;
    shown.status = status;
  }
  /// Private data and depths as the peer stated them. The interface has one octet for a length.
  void put_parameters(const verbs::ConnectionInfo& info);
};

/// The events of many ids, in their order.
class CmEventQueue {
 public:
  [[nodiscard]] int descriptor() const { return queue_.descriptor(); }
  void push(std::unique_ptr<CmEvent> event) { queue_.push(std::move(event)); }
  /// The next one, which its id counts as given; waits unless the descriptor is non-blocking. A
  /// cancellation point. 0, or an errno.
  int take(std::unique_ptr<CmEvent>& event);
  /// Takes out the events of an id that leaves, those of which it is the listener included.
  std::vector<std::unique_ptr<CmEvent>> withdraw(const rdma_cm_id* id);

 private:
  EventQueue<std::unique_ptr<CmEvent>> queue_;
};

/// Where a program waits for the events of many ids. Its descriptor is readable exactly while one
/// is queued. Programs destroy it before its ids, and before another thread's call that is about to
/// wait at it: ids share the queue, and the memory stays for a while.
class EventChannel {
 public:
  EventChannel() { shown.fd = queue_->descriptor(); }
  /// Null when the program has destroyed the channel. Thread-safe.
  [[nodiscard]] std::shared_ptr<CmEventQueue> queue() const;
  /// Leaves the queue to its ids, and to threads that wait there.
  void end();

  rdma_event_channel shown{};
  const process::Origin origin;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<CmEventQueue> queue_ = std::make_shared<CmEventQueue>();
};

inline EventChannel& channel_of(rdma_event_channel* shown) {
  return *reinterpret_cast<EventChannel*>(shown);
}

}  // namespace iwarp::compat
