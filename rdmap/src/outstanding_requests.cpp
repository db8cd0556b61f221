#include "iwarp/rdmap/outstanding_requests.hpp"

#include <algorithm>
#include <bit>

namespace iwarp::rdmap {

OutstandingRequests::OutstandingRequests(std::uint32_t ord, std::uint32_t secret)
    : ord_(ord),
      mask_(std::bit_ceil(std::max(ord, 1U)) - 1U),
      secret_(secret),
      ring_(new OutstandingRequest[std::size_t{mask_} + 1]) {}

Stag OutstandingRequests::sink_stag(std::uint32_t position) const {
  return Stag{(position * 0x9E3779B1U) ^ secret_};
}

void OutstandingRequests::issue(std::uint32_t position, Owed owed, std::uint32_t length,
                                std::span<const ddp::Sge> sink) {
  if (position != issued_.load(std::memory_order_relaxed)) return;  // planned anew
  ring_[position & mask_] = {owed, sink_stag(position), length, sink};
  issued_.store(position + 1U, std::memory_order_release);
}

const OutstandingRequest* OutstandingRequests::due() const {
  const std::uint32_t position = finished_.load(std::memory_order_relaxed);
  return position == issued_.load(std::memory_order_acquire) ? nullptr : &ring_[position & mask_];
}

}  // namespace iwarp::rdmap
