#pragma once

#include <rdma/rdma_cma.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "core/event_fd.hpp"
#include "iwarp/verbs/connection.hpp"
#include "process.hpp"

namespace iwarp::compat {

struct Id;

/// An event, from its happening to its acknowledgement.
struct CmEvent {
  rdma_cm_event shown{};
  std::vector<std::byte> private_data;
  Id* counted_by = nullptr;  ///< Whose destruction waits for the acknowledgement.

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
  EventChannel() { shown.fd = ready_.get(); }
  void push(std::unique_ptr<CmEvent> event);
  /// The next one; waits unless the descriptor is non-blocking. A cancellation point. 0, or an
  /// errno.
  int take(std::unique_ptr<CmEvent>& event);
  /// Takes out the events of an id that leaves, those of which it is the listener included.
  std::vector<std::unique_ptr<CmEvent>> withdraw(const rdma_cm_id* id);

  rdma_event_channel shown{};
  const Origin origin;

 private:
  EventFd ready_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<CmEvent>> events_;
};

inline EventChannel& channel_of(rdma_event_channel* shown) {
  return *reinterpret_cast<EventChannel*>(shown);
}

}  // namespace iwarp::compat
