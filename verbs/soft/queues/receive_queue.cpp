#include "soft/queues/receive_queue.hpp"

namespace iwarp::verbs::soft {

ReceiveQueue::ReceiveQueue(std::uint32_t depth, std::uint32_t max_sges)
    : entries_(depth), sges_(depth, max_sges) {}

void ReceiveQueue::append(std::uint64_t cookie, std::size_t sge_count) {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  entries_[tail] = {cookie, ddp::total_length(vacant_sges().first(sge_count)), sge_count};
  // The posting side stores this first and looks second whether the stream is over; the other side
  // ends the stream first and looks here second. So one of the two sees the other.
  tail_.store(tail + 1U);
}

std::optional<rdmap::ReceiveBuffer> ReceiveQueue::take() {
  if (taken_ == tail_.load()) return std::nullopt;
  const std::uint32_t position = taken_++;
  head_.store(taken_, std::memory_order_release);
  const Entry& entry = entries_[position];
  return rdmap::ReceiveBuffer{entry.cookie, sges_[position].first(entry.sge_count), entry.length};
}

}  // namespace iwarp::verbs::soft
