#include "wire/ring.hpp"

namespace iwarp::rsocket {

namespace {

RingRange range_at(std::uint64_t ring, std::uint64_t position, std::uint64_t length) {
  const std::uint64_t offset = position % ring;
  const std::uint64_t before_end = std::min(length, ring - offset);
  return {.first = {offset, before_end}, .second = {0, length - before_end}};
}

}  // namespace

RingRange RingSpace::claim(std::uint64_t length) {
  const RingRange range = range_at(length_, claimed_, length);
  claimed_ += length;
  return range;
}

bool RingSpace::release_to(std::uint64_t total) {
  if (total < released_ || total > claimed_) return false;
  released_ = total;
  return true;
}

bool RingData::arrive(std::uint64_t length) {
  if (length > length_ - readable()) return false;
  arrived_ += length;
  return true;
}

RingRange RingData::front(std::uint64_t length) const {
  return range_at(length_, consumed_, length);
}

}  // namespace iwarp::rsocket
