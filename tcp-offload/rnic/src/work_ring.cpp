#include "work_ring.hpp"

namespace iwarp::rnic {
namespace {

constexpr unsigned kStatusBits = 32;

}  // namespace

void WorkRing::take_back(std::uint32_t count) {
  const std::uint32_t freed = freed_.load(std::memory_order_relaxed);
  const std::uint32_t posted = posted_.load(std::memory_order_relaxed) - count;
  for (std::uint32_t at = posted; at != posted + count; ++at) leave_place(slots_[at & mask_]);
  std::uint32_t awaited = posted;
  while (awaited != freed && !slots_[(awaited - 1) & mask_].signaled) --awaited;
  posted_.store(posted, std::memory_order_relaxed);
  awaited_.store(awaited, std::memory_order_relaxed);
}

bool WorkRing::complete(WorkSlot& slot, const ibv_wc& wc) {
  leave_place(slot);
  if (given_up_ || slot.done) return false;
  if (wc.status == IBV_WC_WR_FLUSH_ERR) {
    flushed_.store(true, std::memory_order_relaxed);
  } else if (wc.status != IBV_WC_SUCCESS && fault_.load(std::memory_order_relaxed) == 0) {
    const auto status = static_cast<std::uint64_t>(wc.status);
    fault_.store(status << kStatusBits | wc.vendor_err, std::memory_order_relaxed);
  }
  slot.done = true;
  // One that was to be silent has failed: it may have counted as done with one behind it.
  const bool counted = !slot.signaled && static_cast<std::int32_t>(slot.position - told_) < 0;
  std::uint32_t finished = finished_.load(std::memory_order_relaxed) + (counted ? 0 : 1);
  // Those before it of which the adapter does not tell.
  for (; static_cast<std::int32_t>(slot.position - told_) > 0; ++told_) {
    if (!slots_[told_ & mask_].signaled) ++finished;
  }
  if (told_ == slot.position) ++told_;
  // A slot whose completion is to come stays as it is: the adapter has its address.
  std::uint32_t freed = freed_.load(std::memory_order_relaxed);
  while (freed != told_ && (slots_[freed & mask_].done || !slots_[freed & mask_].signaled)) ++freed;
  freed_.store(freed, std::memory_order_release);
  finished_.store(finished, std::memory_order_release);
  return true;
}

WorkRing::Fault WorkRing::fault() const {
  const std::uint64_t fault = fault_.load(std::memory_order_relaxed);
  return {static_cast<ibv_wc_status>(fault >> kStatusBits), static_cast<std::uint32_t>(fault)};
}

}  // namespace iwarp::rnic
