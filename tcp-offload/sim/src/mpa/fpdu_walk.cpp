#include "mpa/fpdu_walk.hpp"

#include <algorithm>
#include <cassert>

namespace iwarp::tcp_offload::sim {
namespace {

// RFC 5044 §4.2, §4.3.
constexpr std::size_t kMarkerSize = 4;
constexpr std::size_t kInterval = 512;
// RFC 5044 §4.1.
constexpr std::size_t kCrcSize = 4;
constexpr std::size_t kAlignment = 4;

}  // namespace

FpduRun FpduWalk::here() const {
  if (!markers_) return {field_, left_};
  const auto phase = static_cast<std::size_t>(passed_ % kInterval);
  if (phase < kMarkerSize) return {FpduPart::kMarker, kMarkerSize - phase};
  return {field_, std::min(left_, kInterval - phase)};
}

void FpduWalk::pass(ConstBytes octets) {
  const FpduRun run = here();
  assert(octets.size() <= run.left);
  passed_ += octets.size();
  // A Marker in front of ULPDU_Length is not counted.
  if (run.part == FpduPart::kMarker) {
    if (!between_fpdus()) since_start_ += octets.size();
    return;
  }
  if (field_ == FpduPart::kLength) {
    for (const std::byte octet : octets)
      length_ = length_ << 8U | std::to_integer<std::size_t>(octet);
  }
  since_start_ += octets.size();
  left_ -= octets.size();
  if (left_ == 0) next_field();
}

// The body is the ULPDU and what pads it and its length to whole words.
void FpduWalk::next_field() {
  switch (field_) {
    case FpduPart::kLength:
      field_ = FpduPart::kBody;
      left_ = (kLengthSize + length_ + kAlignment - 1) / kAlignment * kAlignment - kLengthSize;
      return;
    case FpduPart::kBody:
      field_ = FpduPart::kCrc;
      left_ = kCrcSize;
      return;
    default:
      field_ = FpduPart::kLength;
      left_ = kLengthSize;
      length_ = since_start_ = 0;
  }
}

std::uint16_t FpduWalk::marker_pointer() const {
  const auto begun = static_cast<std::size_t>(passed_ % kInterval);
  return between_fpdus() ? std::uint16_t{0} : static_cast<std::uint16_t>(since_start_ - begun);
}

}  // namespace iwarp::tcp_offload::sim
