#pragma once

#include <algorithm>
#include <cstdint>

namespace iwarp::rsocket {

/// A run of octets in a ring of memory.
struct RingPiece {
  std::uint64_t offset = 0;  ///< From the ring's start.
  std::uint64_t length = 0;
};

/// A range of a ring: `second` is empty unless the range goes past the ring's end.
struct RingRange {
  RingPiece first, second;
};

/// The side of a ring that fills it: the peer's ring, or the memory in which data waits to be sent.
/// Counts octets since the start, so nothing wraps but offsets.
class RingSpace {
 public:
  explicit RingSpace(std::uint64_t length) : length_(length) {}

  [[nodiscard]] std::uint64_t room() const { return length_ - (claimed_ - released_); }
  /// The room up to the ring's end, if that is less.
  [[nodiscard]] std::uint64_t room_in_one_piece() const {
    return std::min(room(), length_ - claimed_ % length_);
  }
  /// The next `length` octets, which are in use from now on. Precondition: length <= room().
  RingRange claim(std::uint64_t length);
  /// `total` octets were freed since the start. False, and nothing changes, if that is fewer than
  /// before or more than were claimed.
  [[nodiscard]] bool release_to(std::uint64_t total);
  /// Precondition: at least `length` octets are in use.
  void release(std::uint64_t length) { released_ += length; }

 private:
  std::uint64_t length_, claimed_ = 0, released_ = 0;
};

/// The side of a ring that empties it.
class RingData {
 public:
  explicit RingData(std::uint64_t length) : length_(length) {}

  /// `length` octets were added. False, and nothing changes, if there is no room for them.
  [[nodiscard]] bool arrive(std::uint64_t length);
  [[nodiscard]] std::uint64_t readable() const { return arrived_ - consumed_; }
  /// Where the first `length` readable octets are. Precondition: length <= readable().
  [[nodiscard]] RingRange front(std::uint64_t length) const;
  /// Frees the first `length` octets. Precondition: length <= readable().
  void consume(std::uint64_t length) { consumed_ += length; }

  /// What the filling side should be told: octets freed since the start.
  [[nodiscard]] std::uint64_t released() const { return consumed_; }
  /// Whether a quarter of the ring was freed since that was told.
  [[nodiscard]] bool worth_telling() const { return consumed_ - told_ >= length_ / 4; }
  void told() { told_ = consumed_; }

 private:
  std::uint64_t length_, arrived_ = 0, consumed_ = 0, told_ = 0;
};

}  // namespace iwarp::rsocket
