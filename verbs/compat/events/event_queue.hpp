#pragma once

#include <pthread.h>

#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "events/event_fd.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "shared/process_end.hpp"

namespace iwarp::compat {

/// Events for which threads of a program wait, readable at a descriptor exactly while there are
/// some.
///
/// Programs end a queue while a thread waits at it (rping does at its end). Such a thread waits on,
/// as it would in the kernel: it keeps what it waits at.
template <class Event>
class EventQueue {
 public:
  [[nodiscard]] int descriptor() const { return state_->ready.get(); }

  void push(Event event) {
    const std::lock_guard lock(state_->mutex);
    state_->events.push_back(std::move(event));
    if (state_->events.size() == 1) state_->ready.set();
  }

  /// The next one, for which `taken` is called before another thread can see that it has left the
  /// queue. Waits unless the descriptor is non-blocking. A cancellation point. 0, or an errno.
  template <class Taken>
  int take(Event& event, const Taken& taken) {
    const std::shared_ptr<State> state = state_;
    ::pthread_testcancel();
    while (!take_if_any(*state, event, taken)) {
      if (const int error = await_readable(state->ready.get())) return error;
    }
    return 0;
  }

  /// Takes out those of which `leaves` is true.
  template <class Predicate>
  std::vector<Event> withdraw(const Predicate& leaves) {
    std::vector<Event> withdrawn;
    std::deque<Event> staying;
    const std::lock_guard lock(state_->mutex);
    for (Event& event : state_->events) {
      if (leaves(std::as_const(event))) {
        withdrawn.push_back(std::move(event));
      } else {
        staying.push_back(std::move(event));
      }
    }
    state_->events.swap(staying);
    state_->clear_if_empty();
    return withdrawn;
  }

 private:
  struct State;

  // False if there is none: it was withdrawn, or another thread was faster.
  template <class Taken>
  static bool take_if_any(State& state, Event& event, const Taken& taken) {
    if (caller_is_left_behind()) return false;
    const process::NoCancel whole;  // what is taken is given
    const std::lock_guard lock(state.mutex);
    if (state.events.empty()) return false;
    taken(state.events.front());
    event = std::move(state.events.front());
    state.events.pop_front();
    state.clear_if_empty();
    return true;
  }

  struct State {
    EventFd ready;
    std::mutex mutex;
    std::deque<Event> events;

    void clear_if_empty() {
      if (events.empty()) ready.clear();
    }
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace iwarp::compat
