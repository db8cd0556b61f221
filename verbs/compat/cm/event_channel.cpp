#include "cm/event_channel.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <unordered_set>

#include "cm/id.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

// What programs have been given and have not acknowledged. Never destroyed: programs may end with
// some.
struct Given {
  std::mutex mutex;
  std::unordered_set<const rdma_cm_event*> events;

  static Given& get() {
    static auto* const given = new Given;
    return *given;
  }
  void add(const rdma_cm_event* event) {
    const std::lock_guard lock(mutex);
    events.insert(event);
  }
  bool remove(const rdma_cm_event* event) {
    const std::lock_guard lock(mutex);
    return events.erase(event) != 0;
  }
};

}  // namespace

void CmEvent::put_parameters(const verbs::ConnectionInfo& info) {
  private_data = info.private_data;
  rdma_conn_param& to = shown.param.conn;
  to.private_data = private_data.empty() ? nullptr : private_data.data();
  to.private_data_len =
      static_cast<std::uint8_t>(std::min<std::size_t>(private_data.size(), UINT8_MAX));
  const auto octet = [](std::uint16_t depth) {
    return static_cast<std::uint8_t>(std::min<std::uint16_t>(depth, UINT8_MAX));
  };
  to.responder_resources = octet(info.peer_ord.value_or(info.ird));
  to.initiator_depth = octet(info.peer_ird.value_or(info.ord));
}

void EventChannel::push(std::unique_ptr<CmEvent> event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  ready_.set();
}

int EventChannel::take(std::unique_ptr<CmEvent>& event) {
  for (;;) {
    if (const int error = await_readable(shown.fd)) return error;
    const std::lock_guard lock(mutex_);
    if (events_.empty()) continue;  // another thread was faster
    event = std::move(events_.front());
    events_.pop_front();
    if (events_.empty()) ready_.clear();
    return 0;
  }
}

std::vector<std::unique_ptr<CmEvent>> EventChannel::withdraw(const rdma_cm_id* id) {
  std::vector<std::unique_ptr<CmEvent>> taken;
  const std::lock_guard lock(mutex_);
  for (auto& event : events_) {
    if (event->shown.id == id || event->shown.listen_id == id) taken.push_back(std::move(event));
  }
  std::erase(events_, nullptr);
  if (events_.empty()) ready_.clear();
  return taken;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

rdma_event_channel* rdma_create_event_channel() {
  return guarded([] { return &(new EventChannel)->shown; },
                 [](int error) -> rdma_event_channel* { return fail_null(error); });
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  if (!channel_of(channel).origin.inherited()) delete &channel_of(channel);
}

// A cancellation point: nothing that must be undone is held while it waits.
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (channel == nullptr || event == nullptr) return fail_minus(EINVAL);
  if (channel_of(channel).origin.inherited()) return fail_minus(ENODEV);
  std::unique_ptr<CmEvent> taken;
  if (const int error = channel_of(channel).take(taken)) return fail_minus(error);
  return guarded(
      [&] {
        Given::get().add(&taken->shown);
        taken->counted_by->give_event();
        *event = &taken.release()->shown;
        return 0;
      },
      fail_minus);
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  if (!Given::get().remove(event)) return fail_minus(EINVAL);  // not an event, or no more
  const std::unique_ptr<CmEvent> whole(reinterpret_cast<CmEvent*>(event));
  whole->counted_by->acknowledge_event();
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
