#include "iwarp/rdmap/send_queue.hpp"

namespace iwarp::rdmap {

SendQueue::SendQueue(std::uint32_t depth, std::uint32_t max_sges, std::uint32_t max_inline)
    : depth_(depth), requests_(depth), sges_(depth, max_sges), inline_(depth, max_inline) {}

std::uint32_t SendQueue::room() const { return depth_ - (tail_.own() - head_.seen()); }

std::span<const ddp::Sge> SendQueue::sges(std::uint32_t position) const {
  return sges_[position].first(at(position).sge_count);
}

ConstBytes SendQueue::inline_data(std::uint32_t position) const {
  return inline_[position].first(at(position).length);
}

}  // namespace iwarp::rdmap
