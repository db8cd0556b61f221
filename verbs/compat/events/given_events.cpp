#include "events/given_events.hpp"

namespace iwarp::compat {

void GivenEvents::give() {
  const std::lock_guard lock(mutex_);
  ++count_;
}

void GivenEvents::acknowledge() {
  const std::lock_guard lock(mutex_);
  if (count_ == 0) return;
  --count_;
  acknowledged_.notify_all();
}

void GivenEvents::wait() {
  std::unique_lock lock(mutex_);
  acknowledged_.wait(lock, [this] { return count_ == 0; });
}

}  // namespace iwarp::compat
