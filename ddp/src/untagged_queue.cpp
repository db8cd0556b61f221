#include "iwarp/ddp/untagged_queue.hpp"

#include <algorithm>

namespace iwarp::ddp {
namespace {

constexpr std::uint64_t kLongestMessage = 0xFFFFFFFFU;

}  // namespace

void UntaggedQueue::open_message(std::uint64_t capacity) {
  capacity_ = std::min(capacity, kLongestMessage);
  placed_ = 0;
  open_ = true;
}

std::optional<Error> UntaggedQueue::check_order(const UntaggedHeader& header) const {
  if (header.msn != expected_) return Error::kMsnOutOfRange;
  return std::nullopt;
}

std::optional<Error> UntaggedQueue::check_fit(const UntaggedHeader& header,
                                              std::size_t payload) const {
  if (header.mo.value() != placed_) return Error::kInvalidMessageOffset;
  if (payload > capacity_ - placed_) return Error::kMessageTooLong;
  return std::nullopt;
}

void UntaggedQueue::advance(const UntaggedHeader& header, std::size_t payload) {
  placed_ += payload;
  if (header.last == Last::kNo) return;
  expected_ = next(expected_);
  open_ = false;
}

}  // namespace iwarp::ddp
