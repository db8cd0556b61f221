#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "events/event_queue.hpp"
#include "events/given_events.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::compat {

/// An asynchronous event, and the count of those that the program has been given.
struct AsyncEntry {
  ibv_async_event event{};
  std::shared_ptr<GivenEvents> counted_by;
};

/// The asynchronous events of one context, readable at its async_fd.
using AsyncQueue = EventQueue<AsyncEntry>;

/// What events are about, by the numbers that the stack gives.
enum class Element : std::uint8_t { kQp, kCq, kSrq };

/// Says where events of an object go; `element` is the program's. At its end those that the program
/// was not given are forgotten, and the others waited for until it has acknowledged them: they name
/// the object (ibv_get_async_event(3)).
class AsyncRoute {
 public:
  AsyncRoute(Element kind, std::uint32_t number, void* element, AsyncQueue& queue);
  AsyncRoute(const AsyncRoute&) = delete;
  AsyncRoute& operator=(const AsyncRoute&) = delete;
  ~AsyncRoute();

 private:
  const Element kind_;
  const std::uint32_t number_;
};

/// The program's object with a number, if there is one.
void* find_element(Element kind, std::uint32_t number);
/// Whether the program has such an object at this address.
bool has_element(Element kind, const void* element);

/// Gives an event of the stack to the context whose object it is about.
void route_async_event(const verbs::AsyncEvent& event);

/// The next event of a queue, as EventQueue::take(). 0, or an errno.
int take_async_event(AsyncQueue& from, ibv_async_event& event);
/// The program has done with an event that it was given.
void acknowledge_async_event(const ibv_async_event& event);

}  // namespace iwarp::compat
