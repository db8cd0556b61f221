#pragma once

#include <cstdint>

namespace iwarp::rsocket {

/// Flow control of Messages: no end sends one for which the peer has no receive, which would end
/// the connection (RFC 5041 §7.1).
///
/// The last credit is kept for the end of the stream, which can so be told at any time. The last
/// but one is kept for a Message that returns many credits. Two ends that have both run dry would
/// wait for each other; so one of them always has something to say and may say it: an end that used
/// that credit had told of all that it had received by then, so the Messages for which the other
/// has no credit are still to come, and will be worth telling of.
class MessageCredits {
 public:
  /// `posted`: receives that this end keeps posted. `granted`: those of the peer.
  MessageCredits(std::uint32_t posted, std::uint64_t granted)
      : posted_(posted), granted_(granted) {}

  /// Whether any Message may be sent.
  [[nodiscard]] bool may_send() const { return available() > 2; }
  /// Whether a Message may be sent that does nothing but return credits.
  [[nodiscard]] bool may_return() const {
    return may_send() || (available() == 2 && worth_telling());
  }
  /// Whether the one Message may be sent that ends the stream.
  [[nodiscard]] bool may_finish() const { return available() > 0; }
  void sent() { ++sent_; }

  /// A Message came and its receive is posted again.
  void received() { ++received_; }
  /// What the peer should be told: Messages that it may send, since the start.
  [[nodiscard]] std::uint64_t granted_to_peer() const { return posted_ + received_; }
  /// Whether half of the receives were used since that was told.
  [[nodiscard]] bool worth_telling() const { return received_ - told_ >= posted_ / 2; }
  void told() { told_ = received_; }

  /// The peer told. False, and nothing changes, if it takes back what it granted.
  [[nodiscard]] bool granted(std::uint64_t total) {
    if (total < granted_) return false;
    granted_ = total;
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t available() const { return granted_ - sent_; }

  std::uint32_t posted_;
  std::uint64_t granted_, sent_ = 0, received_ = 0, told_ = 0;
};

}  // namespace iwarp::rsocket
