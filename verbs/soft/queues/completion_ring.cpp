#include "soft/queues/completion_ring.hpp"

#include <algorithm>
#include <utility>

namespace iwarp::verbs::soft {

CompletionRing::Pushed CompletionRing::push(std::span<const Completion> completions,
                                            PlaceOwner& places) {
  Pushed pushed;
  std::size_t taken = 0;
  {
    const Guard lock(lock_);
    taken = append(completions, places);
    pushed.all = taken == completions.size();
    if (!pushed.all) pushed.first_overrun = !overrun_.exchange(true);
    for (const Completion& completion : completions.first(taken)) {
      if (armed_ == Armed::kNo) break;
      pushed.fires = fires(completion) || pushed.fires;
    }
  }
  if (!pushed.all) places.give_back(static_cast<std::uint32_t>(completions.size() - taken));
  return pushed;
}

// Returns how many were taken.
std::size_t CompletionRing::append(std::span<const Completion> completions, PlaceOwner& places) {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  const std::size_t room = overrun_.load() ? 0 : ring_.size() - count;
  const auto taken = static_cast<std::uint32_t>(std::min(completions.size(), room));
  for (std::uint32_t i = 0; i < taken; ++i) ring_[at(count + i)] = {completions[i], &places};
  if (taken != 0) count_.store(count + taken);
  return taken;
}

// No division: this is done for each completion.
std::size_t CompletionRing::at(std::uint32_t position) const {
  const std::size_t place = std::size_t{head_} + position;
  return place < ring_.size() ? place : place - ring_.size();
}

bool CompletionRing::fires(const Completion& completion) {
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
  PlaceOwner* owner = nullptr;  // of the places of a run of completions
  std::uint32_t places = 0;
  for (std::uint32_t i = 0; i < taken; ++i) {
    const Entry& entry = ring_[head_];
    into[i] = entry.completion;
    if (entry.places != owner && places != 0) owner->give_back(std::exchange(places, 0U));
    owner = entry.places;
    ++places;
    if (++head_ == ring_.size()) head_ = 0;
  }
  if (places != 0) owner->give_back(places);
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
      entry.places->give_back(1);
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
