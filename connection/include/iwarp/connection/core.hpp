#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "iwarp/connection/inbound.hpp"
#include "iwarp/connection/outbound.hpp"

/// One connection in RDMA mode, from octets to operations and back: MPA's FPDUs, DDP's placement
/// and RDMAP's order put together (RFC 5040, 5041, 5044, 7306). No socket, clock, thread, lock, log
/// or completion queue is known here: octets and the time come in as arguments; octets to send,
/// deliveries and faults come out as results.
namespace iwarp::connection {

/// What the two ends have agreed on, and what this end has settled for itself.
struct Terms {
  mpa::StreamModes modes;  ///< CRC and Markers (RFC 5044 §7.1.1).
  std::uint32_t ird = 0;   ///< Reads of the peer that wait here at a time, and as many atomics.
  std::uint32_t ord = 0;   ///< Reads and atomics of this end that wait for the peer, together.
  /// Whether RFC 7306's messages are understood.
  rdmap::Extensions extensions = rdmap::Extensions::kRfc7306;
  /// What this end sends in front of everything else (RFC 6581 §9.2).
  rdmap::Rtr rtr = rdmap::Rtr::kNone;
  /// Whether the peer's first message may be such an indication.
  rdmap::FirstMessage first = rdmap::FirstMessage::kOrdinary;
  /// How long a message of the peer waits for a receive; 0: its coming is a fault.
  std::chrono::milliseconds receive_wait{0};
  /// What becomes of the memory that requests name, while they are sent.
  SourceMemory source = SourceMemory::kMayChange;
  /// Makes the sink STags of Reads hard to guess.
  std::uint32_t secret = 0;
};

/// What a connection works with and does not own; all of it outlives the connection.
struct Environment {
  ddp::StagTable& stags;           ///< The memory that messages may reach.
  ddp::Accessor accessor;          ///< As whom this connection reaches it.
  rdmap::ReceiveSource& receives;  ///< For Sends and Immediate Data.
  rdmap::SendQueue& requests;      ///< What is submitted.
  /// What the peer may do, whatever a buffer allows; may change. Null: everything.
  const std::atomic<ddp::Rights>* allowed = nullptr;
};

/// Both halves of one connection. One thread at a time may be in each half; both halves may run at
/// once: what they share are two queues, of each of which one half has the writing end and the
/// other one the reading end.
class Core {
 public:
  /// Begins at the first octet of Full Operation (RFC 5044 §7.1). Allocates the two queues.
  Core(const Environment& environment, const Terms& terms);

  /// The half that takes octets from the peer.
  [[nodiscard]] Inbound& inbound() { return inbound_; }
  [[nodiscard]] const Inbound& inbound() const { return inbound_; }  ///< The same.
  /// The half that gives octets for the peer.
  [[nodiscard]] Outbound& outbound() { return outbound_; }
  [[nodiscard]] const Outbound& outbound() const { return outbound_; }  ///< The same.

 private:
  rdmap::OutstandingRequests reads_;  // issued by the outbound half, finished by the inbound half
  rdmap::ResponseQueue responses_;    // filled by the inbound half, emptied by the outbound half
  Inbound inbound_;
  Outbound outbound_;
};

}  // namespace iwarp::connection
