#include "host.hpp"

#include <optional>

namespace iwarp::rnic {
namespace {

using verbs::AsyncEvent;

// What the adapter's event is about, in our terms; none for those that say nothing to a program.
std::optional<AsyncEvent> translated(const ibv_async_event& event) {
  using Kind = AsyncEvent::Kind;
  const auto of_qp = [&](Kind kind) { return AsyncEvent{kind, event.element.qp->qp_num, {}}; };
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL: return of_qp(Kind::kQpFatal);
    case IBV_EVENT_QP_REQ_ERR: return of_qp(Kind::kQpRequestError);
    case IBV_EVENT_QP_ACCESS_ERR: return of_qp(Kind::kQpAccessError);
    case IBV_EVENT_QP_LAST_WQE_REACHED: return of_qp(Kind::kQpLastWqeReached);
    case IBV_EVENT_CQ_ERR:
      return AsyncEvent{Kind::kCqOverrun, Adapter::number_of(event.element.cq->cq_context), {}};
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return AsyncEvent{
          Kind::kSrqLimitReached, Adapter::number_of(event.element.srq->srq_context), {}};
    case IBV_EVENT_PORT_ERR: return AsyncEvent{Kind::kPathLost, 0, {}};
    default: return std::nullopt;
  }
}

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

}  // namespace

verbs::Outcome<std::shared_ptr<Host>> Host::open(const std::string& adapter_name) {
  const auto core = RdmaCore::load();
  if (!core) return failure(core.error());
  auto adapter = Adapter::open(**core, adapter_name);
  if (!adapter) return failure(adapter.error());
  std::shared_ptr<Host> host(new Host(*adapter));
  auto loop = CmLoop::start(*adapter, [weak = std::weak_ptr(host)](const ibv_async_event& event) {
    if (const auto there = weak.lock()) there->on_async_event(event);
  });
  if (!loop) return failure(loop.error());
  host->loop_ = std::move(*loop);
  return host;
}

void Host::add(std::uint32_t qp_number, std::weak_ptr<QpEventTarget> target) {
  const std::lock_guard lock(mutex_);
  queue_pairs_[qp_number] = std::move(target);
}

void Host::remove(std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  queue_pairs_.erase(qp_number);
}

void Host::tell_queue_pair(std::uint32_t number, const std::string& what) {
  std::shared_ptr<QpEventTarget> target;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queue_pairs_.find(number);
    if (found != queue_pairs_.end()) target = found->second.lock();
  }
  if (target) target->on_qp_event(what);
}

void Host::on_async_event(const ibv_async_event& event) {
  auto ours = translated(event);
  if (!ours) return;
  const std::string what = adapter_->name +
                           " says: " + adapter_->core.ibv_event_type_str(event.event_type) +
                           " (event " + std::to_string(event.event_type) + ")";
  ours->message = object_of(ours->kind) + std::to_string(ours->number) + ": " + what;
  if (is_fault_of_qp(ours->kind)) tell_queue_pair(ours->number, what);
  events_.report(std::move(*ours));
}

}  // namespace iwarp::rnic
