#include "cm/id.hpp"

#include <system_error>

#include "cm/connection.hpp"
#include "cm/devices.hpp"
#include "core/errors.hpp"
#include "core/qp.hpp"
#include "iwarp/process/no_cancel.hpp"

namespace iwarp::compat {

namespace {

std::shared_ptr<CmEventQueue> queue_of(const EventChannel& channel) {
  auto queue = channel.queue();
  if (queue == nullptr) throw std::system_error(EBADF, std::generic_category());
  return queue;
}

}  // namespace

Id::Id(rdma_event_channel* channel, void* context, rdma_port_space space) {
  if (channel == nullptr) own_channel = std::make_unique<EventChannel>();
  shown.channel = channel == nullptr ? &own_channel->shown : channel;
  events_ = queue_of(channel_of(shown.channel));
  shown.context = context;
  shown.ps = space;
  shown.qp_type = is_for_datagrams(space) ? IBV_QPT_UD : IBV_QPT_RC;
}

Id::Id(const Id& listening, std::unique_ptr<verbs::provider::IncomingConnection> from)
    : step(Step::kRequested), request(std::move(from)), events_(listening.events_) {
  shown.channel = listening.shown.channel;
  shown.context = listening.shown.context;
  shown.ps = listening.shown.ps;
  shown.qp_type = IBV_QPT_RC;
}

// An id that was announced and that the program has not taken goes with the event: it is rejected.
// Events that another thread has taken point to this id, so their acknowledgements come first; from
// the moment when the others are withdrawn there will be no more of them.
Id::~Id() {
  listener.reset();
  link->cut();
  if (const auto events = followed.lock()) events->listen(nullptr);
  leave_connection(*this);
  if (shown.event != nullptr) ::rdma_ack_cm_event(shown.event);
  for (const auto& event : events_->withdraw(&shown)) {
    if (event->shown.event == RDMA_CM_EVENT_CONNECT_REQUEST && event->shown.id != &shown) {
      delete &id_of(event->shown.id);
    }
  }
  given.wait();
}

int Id::bind_to_device(const Endpoint& local) {
  store(shown.route.addr.src_storage, local);
  const CmDevice device = device_with(local.address());
  if (device.context == nullptr) return ENODEV;
  shown.verbs = device.context;
  shown.pd = device.pd;
  shown.port_num = 1;
  return 0;
}

void Id::report(std::unique_ptr<CmEvent> event) {
  if (event->shown.id == nullptr) event->shown.id = &shown;
  event->counted_by = &given;
  events_->push(std::move(event));
}

int Id::complete() {
  if (!waits()) return 0;
  if (shown.event != nullptr) {
    ::rdma_ack_cm_event(shown.event);
    shown.event = nullptr;
  }
  if (::rdma_get_cm_event(shown.channel, &shown.event) != 0) return -1;
  const int status = shown.event->status;
  if (status == 0) return 0;
  if (shown.event->event == RDMA_CM_EVENT_REJECTED) return fail_minus(ECONNREFUSED);
  return fail_minus(status < 0 ? -status : status);
}

void Id::move_to(rdma_event_channel* channel) {
  auto own = channel == nullptr ? std::make_unique<EventChannel>() : nullptr;
  EventChannel& to = channel == nullptr ? *own : channel_of(channel);
  const auto queue = queue_of(to);
  std::unique_ptr<EventChannel> before;
  link->with([&](Id&) {
    before = std::move(own_channel);
    auto moving = events_->withdraw(&shown);
    shown.channel = &to.shown;
    events_ = queue;
    own_channel = std::move(own);
    for (auto& event : moving) {
      event->shown.id->channel = &to.shown;  // a request's id has its listener's
      id_of(event->shown.id).events_ = queue;
      queue->push(std::move(event));
    }
  });
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                   rdma_port_space space) {
  if (channel != nullptr && channel_of(channel).origin.refuses()) return fail_minus(ENODEV);
  if (space != RDMA_PS_TCP && space != RDMA_PS_IB && !is_for_datagrams(space)) {
    return fail_minus(EINVAL);
  }
  return guarded(
      [&] {
        *id = &(new Id(channel, context, space))->shown;
        return 0;
      },
      fail_minus);
}

int rdma_destroy_id(rdma_cm_id* shown) {
  Id& id = id_of(shown);
  if (id.origin.inherited()) return 0;
  const iwarp::process::NoCancel whole;
  delete &id;
  return 0;
}

int rdma_migrate_id(rdma_cm_id* shown, rdma_event_channel* channel) {
  return guarded(
      [&] {
        Id& id = id_of(shown);
        if (id.origin.refuses()) return fail_minus(ENODEV);
        if (id.waits() && shown->event != nullptr) {
          ::rdma_ack_cm_event(shown->event);
          shown->event = nullptr;
        }
        id.given.wait();
        id.move_to(channel);
        return 0;
      },
      fail_minus);
}

__be16 rdma_get_src_port(rdma_cm_id* id) {
  const auto local = endpoint_of(&id->route.addr.src_addr);
  return local ? htons(local->port()) : __be16{0};
}

__be16 rdma_get_dst_port(rdma_cm_id* id) {
  const auto remote = endpoint_of(&id->route.addr.dst_addr);
  return remote ? htons(remote->port()) : __be16{0};
}
