#include "iwarp/base/gather_list.hpp"

#include <algorithm>

namespace iwarp {

GatherList::GatherList(std::size_t arena_size, std::size_t max_pieces)
    : arena_(new std::byte[arena_size]), arena_size_(arena_size), max_pieces_(max_pieces) {
  pieces_.reserve(max_pieces);
}

void GatherList::clear() {
  pieces_.clear();
  arena_used_ = 0;
  size_ = 0;
}

void GatherList::copy(ConstBytes bytes) {
  if (!bytes.empty()) std::memcpy(append(bytes.size()), bytes.data(), bytes.size());
}

void GatherList::reference(ConstBytes bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  // iovec has no const form; a write does not change what it gathers.
  pieces_.push_back({const_cast<std::byte*>(bytes.data()), bytes.size()});
}

MemoryFault GatherList::extract(std::size_t from, MutableBytes to) const {
  for (const iovec& piece : pieces_) {
    if (to.empty()) break;
    if (from >= piece.iov_len) {
      from -= piece.iov_len;
      continue;
    }
    const std::size_t size = std::min(piece.iov_len - from, to.size());
    const ConstBytes there(static_cast<const std::byte*>(piece.iov_base) + from, size);
    if (const auto fault = guarded_copy(to.data(), there)) return fault;
    to = to.subspan(size);
    from = 0;
  }
  return {};
}

void GatherList::rewind(const Mark& mark) {
  pieces_.resize(mark.pieces);
  if (!pieces_.empty()) pieces_.back().iov_len = mark.last_length;
  arena_used_ = mark.arena_used;
  size_ = mark.size;
}

}  // namespace iwarp
