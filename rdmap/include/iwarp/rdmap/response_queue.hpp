#pragma once

#include <cstdint>

#include "iwarp/base/ring.hpp"
#include "iwarp/rdmap/atomic.hpp"
#include "iwarp/rdmap/outstanding_requests.hpp"
#include "iwarp/rdmap/read_request.hpp"

namespace iwarp::rdmap {

/// A response that this end owes the peer.
struct OwedResponse {
  Owed owed = Owed::kReadResponse;  ///< Which of the two.
  ReadRequest read;                 ///< kReadResponse: what to read.
  AtomicResponse atomic;            ///< kAtomicResponse: what to say; the operation is done.
  std::uint32_t reads_before = 0;   ///< The queue's own: Reads appended before this one.
};

/// Requests of the peer that wait for their response: at most IRD Reads (RFC 5040 §6.1) and as many
/// Atomic Operations again (RFC 7306 §5.2.2 rule 4). The receiver appends, the transmitter takes;
/// the two may run at once. Positions count up freely.
///
/// A peer may ask again as soon as it holds a whole response, which can be before the transmitter
/// has heard that its write went through. So a response counts against IRD until it has been
/// planned(), and the ring has room for twice as many.
class ResponseQueue {
 public:
  /// For `ird` Reads and as many Atomic Operations. Allocates here and never again.
  explicit ResponseQueue(std::uint32_t ird);

  // The receiver.
  /// Whether the peer may have one more request of this kind outstanding.
  [[nodiscard]] bool admits(Owed owed) const;
  /// Precondition: admits() of its kind.
  void append(const ReadRequest& request);
  /// The same for an Atomic Operation that is done.
  void append(const AtomicResponse& response);

  // The transmitter.
  /// The position of the oldest response that was not retired.
  [[nodiscard]] std::uint32_t head() const { return head_.own(); }
  /// The position behind the newest.
  [[nodiscard]] std::uint32_t tail() const { return tail_.seen(); }
  /// The response at a position from head() to tail().
  [[nodiscard]] const OwedResponse& at(std::uint32_t position) const { return ring_[position]; }
  /// Every response before `position` is on its way out. To be told before the stream gets to see
  /// its octets: the peer's next request may be here before the write returns.
  void planned(std::uint32_t position) { planned_.move_to(position); }
  /// Every response before `position` has been handed to the stream.
  void retire(std::uint32_t position) { head_.move_to(position); }

  /// As constructed.
  [[nodiscard]] std::uint32_t ird() const { return ird_; }

 private:
  void append(OwedResponse response);

  std::uint32_t ird_;
  Ring<OwedResponse> ring_;
  std::uint32_t reads_ = 0;  // appended so far; the receiver's own
  alignas(64) RingPosition head_;
  RingPosition planned_;
  alignas(64) RingPosition tail_;
};

}  // namespace iwarp::rdmap
