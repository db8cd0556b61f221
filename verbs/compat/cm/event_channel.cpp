#include "cm/event_channel.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <deque>
#include <thread>
#include <unordered_set>

#include "core/errors.hpp"
#include "core/qp.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "shared/process_end.hpp"

namespace iwarp::compat {
namespace {

// What programs have been given and have not acknowledged.
struct Given {
  std::mutex mutex;
  std::unordered_set<const rdma_cm_event*> events;

  static Given& get() { return process::of_this_process<Given>(); }
  void add(const rdma_cm_event* event) {
    const std::lock_guard lock(mutex);
    events.insert(event);
  }
  bool remove(const rdma_cm_event* event) {
    const std::lock_guard lock(mutex);
    return events.erase(event) != 0;
  }
};

// Channels that programs have destroyed, the last of them.
struct EndedChannels {
  static constexpr std::size_t kMost = 64;
  std::mutex mutex;
  std::deque<std::unique_ptr<EventChannel>> channels;

  static EndedChannels& get() { return process::of_this_process<EndedChannels>(); }
  void keep(std::unique_ptr<EventChannel> channel) {
    const std::lock_guard lock(mutex);
    channels.push_back(std::move(channel));
    if (channels.size() > kMost) channels.pop_front();
  }
};

// A thread of a program that ends may come to a channel that is gone (rping's does, and ends the
// program with a status of its own if it is told). Had it come a little earlier, it would wait for
// ever: an end that has begun meanwhile takes it along, however long that lasts.
int come_too_late() {
  constexpr std::chrono::seconds kUntilTheProgramEnds{1};
  std::this_thread::sleep_for(kUntilTheProgramEnds);
  if (caller_is_left_behind()) wait_for_process_end();
  return EBADF;
}

}  // namespace

void CmEvent::put_parameters(const verbs::ConnectionInfo& info) {
  private_data = info.private_data;
  rdma_conn_param& to = shown.param.conn;
  to.private_data = private_data.empty() ? nullptr : private_data.data();
  to.private_data_len =
      static_cast<std::uint8_t>(std::min<std::size_t>(private_data.size(), UINT8_MAX));
  to.responder_resources = octet_of(info.peer_ord.value_or(info.ird));
  to.initiator_depth = octet_of(info.peer_ird.value_or(info.ord));
}

int CmEventQueue::take(std::unique_ptr<CmEvent>& event) {
  // While the queue is locked: an id that goes withdraws its events, and waits for those given.
  return queue_.take(event, [](const auto& next) {
    Given::get().add(&next->shown);
    next->counted_by->give();
    next->place.give_back();
  });
}

std::vector<std::unique_ptr<CmEvent>> CmEventQueue::withdraw(const rdma_cm_id* id) {
  return queue_.withdraw(
      [id](const auto& event) { return event->shown.id == id || event->shown.listen_id == id; });
}

std::shared_ptr<CmEventQueue> EventChannel::queue() const {
  const std::lock_guard lock(mutex_);
  return queue_;
}

void EventChannel::end() {
  const std::lock_guard lock(mutex_);
  queue_.reset();
  shown.fd = -1;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

rdma_event_channel* rdma_create_event_channel() {
  return guarded([] { return &(new EventChannel)->shown; },
                 [](int error) -> rdma_event_channel* { return fail_null(error); });
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  const iwarp::process::NoCancel whole;
  EventChannel& ending = channel_of(channel);
  if (ending.origin.inherited() || ending.queue() == nullptr) return;
  ending.end();
  EndedChannels::get().keep(std::unique_ptr<EventChannel>(&ending));
}

// A cancellation point.
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (channel == nullptr || event == nullptr) return fail_minus(EINVAL);
  if (channel_of(channel).origin.refuses()) return fail_minus(ENODEV);
  return guarded(
      [&] {
        const auto queue = channel_of(channel).queue();
        std::unique_ptr<CmEvent> taken;
        const int error = queue == nullptr ? come_too_late() : queue->take(taken);
        if (error != 0) return fail_minus(error);
        *event = &taken.release()->shown;
        return 0;
      },
      fail_minus);
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  if (!Given::get().remove(event)) return fail_minus(EINVAL);  // not an event, or no more
  const std::unique_ptr<CmEvent> whole(reinterpret_cast<CmEvent*>(event));
  whole->counted_by->acknowledge();
  return 0;
}

const char* rdma_event_str(rdma_cm_event_type event) {
  static constexpr std::array<const char*, 16> kNames{
      "RDMA_CM_EVENT_ADDR_RESOLVED",   "RDMA_CM_EVENT_ADDR_ERROR",
      "RDMA_CM_EVENT_ROUTE_RESOLVED",  "RDMA_CM_EVENT_ROUTE_ERROR",
      "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR",   "RDMA_CM_EVENT_UNREACHABLE",
      "RDMA_CM_EVENT_REJECTED",        "RDMA_CM_EVENT_ESTABLISHED",
      "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_MULTICAST_JOIN",  "RDMA_CM_EVENT_MULTICAST_ERROR",
      "RDMA_CM_EVENT_ADDR_CHANGE",     "RDMA_CM_EVENT_TIMEWAIT_EXIT"};
  const auto index = static_cast<std::size_t>(event);
  return index < kNames.size() ? kNames[index] : "UNKNOWN EVENT";
}
