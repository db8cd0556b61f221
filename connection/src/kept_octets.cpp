#include "iwarp/connection/kept_octets.hpp"

#include <algorithm>
#include <new>

namespace iwarp::connection {

void KeptOctets::assign(ConstBytes first, ConstBytes second) {
  const std::size_t size = first.size() + second.size();
  if (size == 0 && !octets_) return;
  // Not value-initialised: each octet is written right away.
  std::unique_ptr<std::byte[]> octets(size == 0 ? nullptr : new std::byte[size]);
  std::ranges::copy(second, std::ranges::copy(first, octets.get()).out);
  octets_ = std::move(octets);
  from_ = 0;
  size_ = size;
}

// What is left moves into less memory, if there is some.
void KeptOctets::drop_front(std::size_t count) {
  if (count == 0) return;
  from_ += count;
  size_ -= count;
  std::unique_ptr<std::byte[]> less(size_ == 0 ? nullptr : new (std::nothrow) std::byte[size_]);
  if (size_ != 0 && !less) return;
  std::ranges::copy(octets(), less.get());
  octets_ = std::move(less);
  from_ = 0;
}

}  // namespace iwarp::connection
