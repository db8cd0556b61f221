#include "soft/queues/receive_queue.hpp"

#include <bit>

namespace iwarp::verbs::soft {

ReceiveQueue::ReceiveQueue(std::uint32_t depth, std::uint32_t max_sges)
    : mask_(std::bit_ceil(depth) - 1U),
      max_sges_(max_sges),
      entries_(new Entry[std::size_t{mask_} + 1]),
      sges_(new ddp::Sge[(std::size_t{mask_} + 1) * max_sges]) {}

std::span<ddp::Sge> ReceiveQueue::vacant_sges() {
  return {&sges_[std::size_t{tail_.load(std::memory_order_relaxed) & mask_} * max_sges_],
          max_sges_};
}

void ReceiveQueue::append(std::uint64_t cookie, std::size_t sge_count) {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  entries_[tail & mask_] = {cookie, ddp::total_length(vacant_sges().first(sge_count)), sge_count};
  // The posting side stores this first and looks second whether the stream is over; the other side
  // ends the stream first and looks here second. So one of the two sees the other.
  tail_.store(tail + 1U);
}

std::optional<rdmap::ReceiveBuffer> ReceiveQueue::take() {
  if (taken_ == tail_.load()) return std::nullopt;
  const std::uint32_t position = taken_++;
  head_.store(taken_, std::memory_order_release);
  const Entry& entry = entries_[position & mask_];
  return rdmap::ReceiveBuffer{entry.cookie,
                              {&sges_[std::size_t{position & mask_} * max_sges_], entry.sge_count},
                              entry.length};
}

}  // namespace iwarp::verbs::soft
