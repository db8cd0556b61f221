#pragma once

#include <cstdint>
#include <optional>

#include "iwarp/ddp/header.hpp"

namespace iwarp::ddp {

/// The receive order of one untagged queue (RFC 5041 §4.3, §7.1): which message is due, how far it
/// has come, how much its buffer holds. The segments of a stream arrive in order, so just one
/// message is open at a time.
class UntaggedQueue {
 public:
  UntaggedQueue() = default;
  /// A queue whose first message has another MSN than 1.
  explicit UntaggedQueue(Msn first) : expected_(first) {}

  /// Whether a message is half received.
  [[nodiscard]] bool open() const { return open_; }
  /// The MSN of the message that is due, or open.
  [[nodiscard]] Msn expected() const { return expected_; }
  /// Octets of the open message that have been placed.
  [[nodiscard]] std::uint64_t placed() const { return placed_; }

  /// Gives the message that is due a buffer of `capacity` octets, of which it may fill all but no
  /// more than 2^32 - 1 (RFC 5041 §5.2). Precondition: !open().
  void open_message(std::uint64_t capacity);
  /// Whether a segment is the next one. Errors: kMsnOutOfRange.
  [[nodiscard]] std::optional<Error> check_order(const UntaggedHeader& header) const;
  /// Whether a segment fits the open message. Errors: kInvalidMessageOffset, kMessageTooLong.
  [[nodiscard]] std::optional<Error> check_fit(const UntaggedHeader& header,
                                               std::size_t payload) const;
  /// Accounts for a placed segment; the last one closes the message.
  void advance(const UntaggedHeader& header, std::size_t payload);

 private:
  std::uint64_t capacity_ = 0;
  std::uint64_t placed_ = 0;
  Msn expected_{1};
  bool open_ = false;
};

}  // namespace iwarp::ddp
