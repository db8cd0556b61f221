#include "core/async.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "iwarp/tcp_offload/process.hpp"

namespace iwarp::compat {
namespace {

struct Target {
  void* element = nullptr;
  AsyncQueue* queue = nullptr;
};

struct Routes {
  std::mutex mutex;
  std::map<std::pair<Element, std::uint32_t>, Target> targets;

  static Routes& get() { return tcp_offload::of_this_process<Routes>(); }
};

struct Meaning {
  Element element;
  ibv_event_type type;
};

Meaning meaning_of(verbs::AsyncEvent::Kind kind) {
  using Kind = verbs::AsyncEvent::Kind;
  switch (kind) {
    case Kind::kQpFatal:
    case Kind::kPathLost: break;
    case Kind::kQpAccessError: return {Element::kQp, IBV_EVENT_QP_ACCESS_ERR};
    case Kind::kQpRequestError: return {Element::kQp, IBV_EVENT_QP_REQ_ERR};
    case Kind::kCqOverrun: return {Element::kCq, IBV_EVENT_CQ_ERR};
    case Kind::kQpLastWqeReached: return {Element::kQp, IBV_EVENT_QP_LAST_WQE_REACHED};
    case Kind::kSrqLimitReached: return {Element::kSrq, IBV_EVENT_SRQ_LIMIT_REACHED};
  }
  return {Element::kQp, IBV_EVENT_QP_FATAL};
}

const void* element_of(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR: return event.element.cq;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: return event.element.srq;
    default: return event.element.qp;
  }
}

}  // namespace

AsyncRoute::AsyncRoute(Element kind, std::uint32_t number, void* element, AsyncQueue& queue)
    : kind_(kind), number_(number), known_(true) {
  Routes& routes = Routes::get();
  const std::lock_guard lock(routes.mutex);
  routes.targets[{kind, number}] = {element, &queue};
}

AsyncRoute::~AsyncRoute() {
  if (!known_) return;
  Routes& routes = Routes::get();
  const std::lock_guard lock(routes.mutex);
  const auto found = routes.targets.find({kind_, number_});
  if (found == routes.targets.end()) return;
  // What says something of an object that goes is told to nobody.
  const void* const element = found->second.element;
  found->second.queue->withdraw(
      [element](const ibv_async_event& event) { return element_of(event) == element; });
  routes.targets.erase(found);
}

void* find_element(Element kind, std::uint32_t number) {
  Routes& routes = Routes::get();
  const std::lock_guard lock(routes.mutex);
  const auto found = routes.targets.find({kind, number});
  return found == routes.targets.end() ? nullptr : found->second.element;
}

bool has_element(Element kind, const void* element) {
  Routes& routes = Routes::get();
  const std::lock_guard lock(routes.mutex);
  return std::ranges::any_of(routes.targets, [&](const auto& each) {
    return each.first.first == kind && each.second.element == element;
  });
}

void route_async_event(const verbs::AsyncEvent& event) {
  const Meaning meaning = meaning_of(event.kind);
  Routes& routes = Routes::get();
  const std::lock_guard lock(routes.mutex);
  const auto found = routes.targets.find({meaning.element, event.number});
  if (found == routes.targets.end()) return;
  ibv_async_event told{};
  told.event_type = meaning.type;
  switch (meaning.element) {
    case Element::kQp: told.element.qp = static_cast<ibv_qp*>(found->second.element); break;
    case Element::kCq: told.element.cq = static_cast<ibv_cq*>(found->second.element); break;
    case Element::kSrq: told.element.srq = static_cast<ibv_srq*>(found->second.element); break;
  }
  found->second.queue->push(told);
}

}  // namespace iwarp::compat
