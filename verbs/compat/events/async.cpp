#include "events/async.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "iwarp/process/forks.hpp"

namespace iwarp::compat {
namespace {

struct Target {
  void* element = nullptr;
  AsyncQueue* queue = nullptr;
  std::shared_ptr<GivenEvents> given;
};

struct Routes {
  std::mutex mutex;
  std::map<std::pair<Element, std::uint32_t>, Target> targets;
  std::vector<Target> leaving;  // their objects are being destroyed

  static Routes& get() { return process::of_this_process<Routes>(); }
};

struct Meaning {
  Element element;
  ibv_event_type type;
};

Meaning meaning_of(verbs::AsyncEvent::Kind kind) {
  using Kind = verbs::AsyncEvent::Kind;
  switch (kind) {
    case Kind::kQpFatal:
    case Kind::kPathLost:
    case Kind::kDeviceFatal: break;
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
    : kind_(kind), number_(number) {
  Routes& routes = Routes::get();
  const std::lock_guard lock(routes.mutex);
  routes.targets[{kind, number}] = {element, &queue, std::make_shared<GivenEvents>()};
}

AsyncRoute::~AsyncRoute() {
  Routes& routes = Routes::get();
  Target target;
  {
    const std::lock_guard lock(routes.mutex);
    target = std::move(routes.targets.extract({kind_, number_}).mapped());
    target.queue->withdraw(
        [&target](const AsyncEntry& each) { return element_of(each.event) == target.element; });
    routes.leaving.push_back(target);
  }
  target.given->wait();
  const std::lock_guard lock(routes.mutex);
  std::erase_if(routes.leaving,
                [&target](const Target& each) { return each.given == target.given; });
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
  found->second.queue->push({told, found->second.given});
}

int take_async_event(AsyncQueue& from, ibv_async_event& event) {
  AsyncEntry taken;
  // While the queue is locked: an object that goes withdraws its events, and waits for those given.
  const int error = from.take(taken, [](const AsyncEntry& next) { next.counted_by->give(); });
  event = taken.event;
  return error;
}

void acknowledge_async_event(const ibv_async_event& event) {
  const auto is_meant = [element = element_of(event)](const Target& each) {
    return each.element == element;
  };
  Routes& routes = Routes::get();
  const std::lock_guard lock(routes.mutex);
  for (const auto& [name, target] : routes.targets) {
    if (is_meant(target)) return target.given->acknowledge();
  }
  const auto leaving = std::ranges::find_if(routes.leaving, is_meant);
  if (leaving != routes.leaving.end()) leaving->given->acknowledge();
}

}  // namespace iwarp::compat
