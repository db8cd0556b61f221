#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "iwarp/ddp/memory.hpp"

namespace iwarp::rdmap {

/// A Read of ours whose response is due. Its sink is named on the wire by an STag that exists for
/// this one response only, so that no key of local memory is ever sent.
struct OutstandingRead {
  Stag sink_stag;
  std::uint32_t length = 0;
  std::span<const ddp::Sge> sink;  ///< Stays in place until the read is done.
};

/// Our Reads in the order they left, at most ORD (RFC 5040 §6.1). The transmitter issues, the
/// receiver finishes; the two may run at once. Positions count up freely.
class OutstandingReads {
 public:
  /// `secret` makes the sink STags of this stream hard to guess.
  OutstandingReads(std::uint32_t ord, std::uint32_t secret);

  // The transmitter.
  /// Whether the Read at `position` may leave while those before it are outstanding.
  [[nodiscard]] bool admits(std::uint32_t position) const { return position - finished() < ord_; }
  /// Announces the Read at `position`; again for the same position changes nothing. The sink STag
  /// depends on the position alone. Precondition: admits(position).
  void issue(std::uint32_t position, std::uint32_t length, std::span<const ddp::Sge> sink);
  [[nodiscard]] Stag sink_stag(std::uint32_t position) const;
  [[nodiscard]] std::uint32_t finished() const { return finished_.load(std::memory_order_acquire); }

  // The receiver.
  /// The Read whose response is due; null if none is outstanding.
  [[nodiscard]] const OutstandingRead* due() const;
  /// The response that is due has been placed whole.
  void finish() { finished_.fetch_add(1, std::memory_order_release); }

 private:
  std::uint32_t ord_, mask_, secret_;
  std::unique_ptr<OutstandingRead[]> ring_;
  alignas(64) std::atomic<std::uint32_t> issued_{0};
  alignas(64) std::atomic<std::uint32_t> finished_{0};
};

}  // namespace iwarp::rdmap
