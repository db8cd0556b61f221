#include "wire/scatter.hpp"

#include <algorithm>
#include <cstring>

namespace iwarp::rsocket {

Scatter::Scatter(std::span<const iovec> list) : list_(list) {
  for (const iovec& each : list) total_ += each.iov_len;
  left_ = total_;
}

MutableBytes Scatter::next(std::size_t most) {
  while (offset_ == list_.front().iov_len) {
    list_ = list_.subspan(1);
    offset_ = 0;
  }
  const std::size_t length = std::min(most, list_.front().iov_len - offset_);
  const MutableBytes piece{static_cast<std::byte*>(list_.front().iov_base) + offset_, length};
  offset_ += length;
  left_ -= length;
  return piece;
}

void Scatter::copy_to(MutableBytes to) {
  while (!to.empty()) {
    const MutableBytes from = next(to.size());
    std::memcpy(to.data(), from.data(), from.size());
    to = to.subspan(from.size());
  }
}

void Scatter::copy_from(ConstBytes from) {
  while (!from.empty()) {
    const MutableBytes to = next(from.size());
    std::memcpy(to.data(), from.data(), to.size());
    from = from.subspan(to.size());
  }
}

}  // namespace iwarp::rsocket
