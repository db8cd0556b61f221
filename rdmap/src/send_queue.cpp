#include "iwarp/rdmap/send_queue.hpp"

#include <bit>

namespace iwarp::rdmap {

SendQueue::SendQueue(std::uint32_t depth, std::uint32_t max_sges, std::uint32_t max_inline)
    : depth_(depth),
      mask_(std::bit_ceil(depth) - 1U),
      max_sges_(max_sges),
      max_inline_(max_inline),
      requests_(new Request[std::size_t{mask_} + 1]),
      sges_(new ddp::Sge[(std::size_t{mask_} + 1) * max_sges]),
      inline_(new std::byte[(std::size_t{mask_} + 1) * max_inline]) {}

std::uint32_t SendQueue::room() const {
  return depth_ - (tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_acquire));
}

std::span<ddp::Sge> SendQueue::sges_room(std::uint32_t position) const {
  return {&sges_[std::size_t{position & mask_} * max_sges_], max_sges_};
}

MutableBytes SendQueue::inline_room(std::uint32_t position) const {
  return {&inline_[std::size_t{position & mask_} * max_inline_], max_inline_};
}

std::span<const ddp::Sge> SendQueue::sges(std::uint32_t position) const {
  return sges_room(position).first(at(position).sge_count);
}

ConstBytes SendQueue::inline_data(std::uint32_t position) const {
  return inline_room(position).first(at(position).length);
}

}  // namespace iwarp::rdmap
