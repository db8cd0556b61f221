#include "soft/queues/cq_events.hpp"

#include <utility>

namespace iwarp::verbs::soft {

void CqEvents::raise() {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  if (auto* made = made_.load()) return made->raise();
  const Guard lock(mutex_);
  if (owner_) return owner_->raise();
  ++before_;
}

bool CqEvents::take() {
  const bool taken = take_counted();
  if (taken) waiting_.fetch_sub(1, std::memory_order_relaxed);
  return taken;
}

bool CqEvents::take_counted() {
  if (auto* made = made_.load()) return made->take();
  const Guard lock(mutex_);
  if (owner_) return owner_->take();
  return before_ != 0 && before_-- != 0;
}

int CqEvents::descriptor() {
  if (auto* made = made_.load()) return made->descriptor();
  const Guard lock(mutex_);
  if (!owner_) {
    owner_ = std::make_unique<tcp_offload::EventCount>();
    if (before_ != 0) owner_->raise(std::exchange(before_, 0));
  }
  made_.store(owner_.get());
  return owner_->descriptor();
}

}  // namespace iwarp::verbs::soft
