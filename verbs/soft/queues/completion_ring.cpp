#include "soft/queues/completion_ring.hpp"

#include <algorithm>

namespace iwarp::verbs::soft {

CompletionRing::Pushed CompletionRing::push(const Completion& completion, Places& places) {
  Pushed pushed;
  {
    const Guard lock(lock_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == ring_.size() || overrun_.load()) {
      pushed.first_overrun = !overrun_.exchange(true);
    } else {
      ring_[at(count)] = {completion, &places};
      count_.store(count + 1U);
      pushed.taken = true;
      pushed.fires = fires(completion);
    }
  }
  if (!pushed.taken) places.give_back();
  return pushed;
}

// No division: this is done for each completion.
std::size_t CompletionRing::at(std::uint32_t position) const {
  const std::size_t place = std::size_t{head_} + position;
  return place < ring_.size() ? place : place - ring_.size();
}

bool CompletionRing::fires(const Completion& completion) {
  if (armed_ == Armed::kNo) return false;
  const bool solicited =
      completion.status != Status::kSuccess || has(completion.flags, CompletionFlags::kSolicited);
  if (armed_ == Armed::kSolicited && !solicited) return false;
  armed_ = Armed::kNo;
  signs_.fire();
  return true;
}

std::size_t CompletionRing::pop(std::span<Completion> into) {
  if (empty()) return 0;
  const Guard lock(lock_);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(count, into.size()));
  for (std::uint32_t i = 0; i < taken; ++i) {
    into[i] = ring_[head_].completion;
    ring_[head_].places->give_back();
    if (++head_ == ring_.size()) head_ = 0;
  }
  count_.store(count - taken);
  return taken;
}

void CompletionRing::discard(std::uint32_t qp_number) {
  const Guard lock(lock_);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Entry& entry = ring_[at(i)];
    if (entry.completion.qp_number == qp_number) {
      entry.places->give_back();
    } else {
      ring_[at(kept++)] = entry;
    }
  }
  count_.store(kept);
}

// Arming for any is the stronger of the two.
void CompletionRing::arm(provider::Arm what) {
  const Guard lock(lock_);
  if (armed_ != Armed::kAny) {
    armed_ = what == provider::Arm::kAny ? Armed::kAny : Armed::kSolicited;
  }
  signs_.arm();
}

bool CompletionRing::resize(std::uint32_t depth) {
  std::vector<Entry> ring(depth);  // released without the lock
  const Guard lock(lock_);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (count > depth) return false;
  for (std::uint32_t i = 0; i < count; ++i) ring[i] = ring_[at(i)];
  ring_.swap(ring);
  head_ = 0;
  return true;
}

std::uint32_t CompletionRing::capacity() const {
  const Guard lock(lock_);
  return static_cast<std::uint32_t>(ring_.size());
}

}  // namespace iwarp::verbs::soft
