#include "iwarp/rdmap/response_queue.hpp"

#include <algorithm>
#include <bit>

namespace iwarp::rdmap {

ResponseQueue::ResponseQueue(std::uint32_t ird)
    : ird_(ird),
      mask_(std::bit_ceil(std::max(2U * ird, 1U)) - 1U),
      ring_(new ReadRequest[std::size_t{mask_} + 1]) {}

bool ResponseQueue::admits() const {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  // Planning may be rewound, never below head; a stale value only makes the check stricter.
  const std::uint32_t waiting = tail - planned_.load(std::memory_order_acquire);
  const std::uint32_t held = tail - head_.load(std::memory_order_acquire);
  return waiting < ird_ && held < 2U * ird_;
}

void ResponseQueue::append(const ReadRequest& request) {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  ring_[tail & mask_] = request;
  tail_.store(tail + 1U, std::memory_order_release);
}

}  // namespace iwarp::rdmap
