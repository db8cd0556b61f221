#pragma once

#include <rdma/rdma_cma.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/event_queue.hpp"
#include "iwarp/tcp_offload/process.hpp"
#include "iwarp/verbs/connection.hpp"

namespace iwarp::compat {

/// Counts what a program was given of one id's events and has not acknowledged. Thread-safe.
class GivenEvents {
 public:
  void give();
  void acknowledge();
  /// Until all are acknowledged.
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable acknowledged_;
  unsigned count_ = 0;
};

/// An event, from its happening to its acknowledgement.
struct CmEvent {
  rdma_cm_event shown{};
  std::vector<std::byte> private_data;
  GivenEvents* counted_by = nullptr;  ///< Of the id that is not destroyed before all are back.

  explicit CmEvent(rdma_cm_event_type type, int status = 0) {
    shown.event = type;
    shown.status = status;
  }
  /// Private data and depths as the peer stated them. The interface has one octet for a length.
  void put_parameters(const verbs::ConnectionInfo& info);
};

/// Where a program waits for the events of many ids. Its descriptor is readable exactly while one
/// is queued.
class EventChannel {
 public:
  EventChannel() { shown.fd = queue_.descriptor(); }
  void push(std::unique_ptr<CmEvent> event) { queue_.push(std::move(event)); }
  /// The next one, which its id counts as given; waits unless the descriptor is non-blocking. A
  /// cancellation point. 0, or an errno.
  int take(std::unique_ptr<CmEvent>& event);
  /// Takes out the events of an id that leaves, those of which it is the listener included.
  std::vector<std::unique_ptr<CmEvent>> withdraw(const rdma_cm_id* id);

  rdma_event_channel shown{};
  const tcp_offload::Origin origin;

 private:
  EventQueue<std::unique_ptr<CmEvent>> queue_;
};

inline EventChannel& channel_of(rdma_event_channel* shown) {
  return *reinterpret_cast<EventChannel*>(shown);
}

}  // namespace iwarp::compat
