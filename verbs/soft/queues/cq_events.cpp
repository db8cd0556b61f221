#include "soft/queues/cq_events.hpp"

#include <utility>

namespace iwarp::verbs::soft {

void CqEvents::raise() {
  waiting_.fetch_add(1);
  raise_shown(1);
}

void CqEvents::raise_unshown() {
  waiting_.fetch_add(1);
  unshown_.fetch_add(1);
}

void CqEvents::show() {
  if (unshown_.load() == 0) return;
  if (const std::uint32_t count = unshown_.exchange(0)) raise_shown(count);
}

void CqEvents::raise_shown(std::uint32_t count) {
  if (auto* made = made_.load()) return made->raise(count);
  const Guard lock(mutex_);
  if (owner_) return owner_->raise(count);
  before_ += count;
}

bool CqEvents::take() {
  if (!any()) return false;
  const bool taken = take_unshown() || take_shown();
  if (taken) waiting_.fetch_sub(1);
  return taken;
}

bool CqEvents::take_unshown() {
  std::uint32_t count = unshown_.load();
  while (count != 0 && !unshown_.compare_exchange_weak(count, count - 1)) {
  }
  return count != 0;
}

bool CqEvents::take_shown() {
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
