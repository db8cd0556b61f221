#include "iwarp/rdmap/response_queue.hpp"

#include <algorithm>
#include <bit>

namespace iwarp::rdmap {

ResponseQueue::ResponseQueue(std::uint32_t ird)
    : ird_(ird),
      mask_(std::bit_ceil(std::max(4U * ird, 1U)) - 1U),
      ring_(new OwedResponse[std::size_t{mask_} + 1]) {}

bool ResponseQueue::admits(Owed owed) const {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  // Planning may be rewound, never below head; a stale value only makes the check stricter.
  const std::uint32_t planned = planned_.load(std::memory_order_acquire);
  const std::uint32_t waiting = tail - planned;
  const std::uint32_t reads = waiting == 0 ? 0 : reads_ - ring_[planned & mask_].reads_before;
  const std::uint32_t held = tail - head_.load(std::memory_order_acquire);
  return (owed == Owed::kReadResponse ? reads : waiting - reads) < ird_ && held < 4U * ird_;
}

void ResponseQueue::append(const ReadRequest& request) {
  append(OwedResponse{Owed::kReadResponse, request, {}, reads_});
  ++reads_;
}

void ResponseQueue::append(const AtomicResponse& response) {
  append(OwedResponse{Owed::kAtomicResponse, {}, response, reads_});
}

void ResponseQueue::append(OwedResponse response) {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  ring_[tail & mask_] = response;
  tail_.store(tail + 1U, std::memory_order_release);
}

}  // namespace iwarp::rdmap
