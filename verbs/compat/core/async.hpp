#pragma once

#include <infiniband/verbs.h>

#include "core/event_queue.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::compat {

/// The asynchronous events of one context, readable at its async_fd.
using AsyncQueue = EventQueue<ibv_async_event>;

/// What events are about, by the numbers that the stack gives.
enum class Element : std::uint8_t { kQp, kCq, kSrq };

/// Says where events of an object go; `element` is the program's. Ends with the registration.
class AsyncRoute {
 public:
  AsyncRoute() = default;
  AsyncRoute(Element kind, std::uint32_t number, void* element, AsyncQueue& queue);
  AsyncRoute(const AsyncRoute&) = delete;
  AsyncRoute& operator=(const AsyncRoute&) = delete;
  ~AsyncRoute();

 private:
  Element kind_ = Element::kQp;
  std::uint32_t number_ = 0;
  bool known_ = false;
};

/// The program's object with a number, if there is one.
void* find_element(Element kind, std::uint32_t number);
/// Whether the program has such an object at this address.
bool has_element(Element kind, const void* element);

/// Gives an event of the stack to the context whose object it is about.
void route_async_event(const verbs::AsyncEvent& event);

}  // namespace iwarp::compat
