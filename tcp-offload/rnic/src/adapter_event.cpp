#include "adapter_event.hpp"

#include <optional>

#include "host.hpp"

namespace iwarp::rnic {
namespace {

using verbs::AsyncEvent;

/// What an event is about: the label of the object, if it is one's, and the event in our terms.
struct Noted {
  const EventLabel* label = nullptr;
  AsyncEvent::Kind kind = AsyncEvent::Kind::kQpFatal;
  std::uint32_t number = 0;
};

Noted of_object(AsyncEvent::Kind kind, const void* context) {
  const auto* const label = static_cast<const EventLabel*>(context);
  return {label, kind, label == nullptr ? 0 : label->number};
}

Noted of_queue_pair(AsyncEvent::Kind kind, const ibv_qp& qp) {
  return {static_cast<const EventLabel*>(qp.qp_context), kind, qp.qp_num};
}

// None for events that say nothing to a program.
std::optional<Noted> noted(const ibv_async_event& event) {
  using Kind = AsyncEvent::Kind;
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL: return of_queue_pair(Kind::kQpFatal, *event.element.qp);
    case IBV_EVENT_QP_REQ_ERR: return of_queue_pair(Kind::kQpRequestError, *event.element.qp);
    case IBV_EVENT_QP_ACCESS_ERR: return of_queue_pair(Kind::kQpAccessError, *event.element.qp);
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return of_queue_pair(Kind::kQpLastWqeReached, *event.element.qp);
    case IBV_EVENT_CQ_ERR: return of_object(Kind::kCqOverrun, event.element.cq->cq_context);
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return of_object(Kind::kSrqLimitReached, event.element.srq->srq_context);
    // Connections outlive a while without it: TCP's time-outs are the adapter's.
    case IBV_EVENT_PORT_ERR: return Noted{nullptr, Kind::kPathLost, 0};
    default: return std::nullopt;
  }
}

bool is_of_object(AsyncEvent::Kind kind) { return kind != AsyncEvent::Kind::kPathLost; }

const char* object_of(AsyncEvent::Kind kind) {
  switch (kind) {
    case AsyncEvent::Kind::kCqOverrun: return "completion queue ";
    case AsyncEvent::Kind::kSrqLimitReached: return "shared receive queue ";
    case AsyncEvent::Kind::kPathLost: return "port ";
    default: return "queue pair ";
  }
}

bool is_fault_of_qp(AsyncEvent::Kind kind) {
  return kind == AsyncEvent::Kind::kQpFatal || kind == AsyncEvent::Kind::kQpRequestError ||
         kind == AsyncEvent::Kind::kQpAccessError;
}

std::string what_it_says(const Adapter& adapter, ibv_event_type type) {
  return adapter.name + " says: " + adapter.core.ibv_event_type_str(type) + " (event " +
         std::to_string(type) + ")";
}

std::vector<std::shared_ptr<Host>> hearers_of(const Adapter& adapter, const Noted& event) {
  if (!is_of_object(event.kind)) return hosts_of(adapter);
  // An object without a label is one that no program has.
  auto host = event.label == nullptr ? nullptr : event.label->host.lock();
  if (!host) return {};
  return {std::move(host)};
}

}  // namespace

CmLoop::Task note_adapter_event(Adapter& adapter, const ibv_async_event& event) {
  if (event.event_type == IBV_EVENT_DEVICE_FATAL) {
    return [&adapter,
            what = adapter.name + " has failed: " + what_it_says(adapter, event.event_type)] {
      lose_adapter(adapter, what);
    };
  }
  const auto about = noted(event);
  if (!about) return {};
  const std::string what = what_it_says(adapter, event.event_type);
  const AsyncEvent told{about->kind, about->number,
                        object_of(about->kind) + std::to_string(about->number) + ": " + what};
  return [hearers = hearers_of(adapter, *about), told, what] {
    for (const auto& host : hearers) {
      if (is_fault_of_qp(told.kind)) host->tell_queue_pair(told.number, what);
      host->events().report(told);
    }
  };
}

}  // namespace iwarp::rnic
