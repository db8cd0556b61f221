#pragma once

#include <cstdint>
#include <span>

#include "iwarp/base/ring.hpp"
#include "iwarp/ddp/memory.hpp"

namespace iwarp::rdmap {

/// What the peer owes for a request on QN 1.
enum class Owed : std::uint8_t { kReadResponse, kAtomicResponse };

/// A Read or Atomic Operation of ours whose response is due. The sink of a Read is named on the
/// wire by an STag that exists for this one response only, so that no key of local memory is ever
/// sent.
struct OutstandingRequest {
  Owed owed = Owed::kReadResponse;  ///< What the peer owes.
  Stag sink_stag;            ///< kReadResponse. Of an Atomic Request the number is its identifier.
  std::uint32_t length = 0;  ///< Octets that are due.
  std::span<const ddp::Sge> sink;  ///< Stays in place until the response is there.
};

/// Our Reads and Atomic Operations in the order they left, together at most ORD (RFC 5040 §6.1,
/// RFC 7306 §5.2). The transmitter issues, the receiver finishes; the two may run at once.
/// Positions count up freely.
class OutstandingRequests {
 public:
  /// `secret` makes the sink STags of this stream hard to guess.
  OutstandingRequests(std::uint32_t ord, std::uint32_t secret);

  // The transmitter.
  /// Whether the request at `position` may leave while those before it are outstanding.
  [[nodiscard]] bool admits(std::uint32_t position) const { return position - finished() < ord_; }
  /// Announces the request at `position`; again for the same position changes nothing. The sink
  /// STag depends on the position alone. Precondition: admits(position).
  void issue(std::uint32_t position, Owed owed, std::uint32_t length,
             std::span<const ddp::Sge> sink);
  /// The STag that names the sink of the request at `position` on the wire.
  [[nodiscard]] Stag sink_stag(std::uint32_t position) const;
  /// The position of the oldest request that is not finished.
  [[nodiscard]] std::uint32_t finished() const { return finished_.seen(); }

  // The receiver.
  /// The request whose response is due; null if none is outstanding.
  [[nodiscard]] const OutstandingRequest* due() const;
  /// The response that is due has been taken whole.
  void finish() { finished_.advance(); }

 private:
  std::uint32_t ord_, secret_;
  Ring<OutstandingRequest> ring_;
  alignas(64) RingPosition issued_;
  alignas(64) RingPosition finished_;
};

}  // namespace iwarp::rdmap
