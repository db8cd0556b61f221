#pragma once

#include <iterator>

#include "iwarp/connection/core.hpp"
#include "soft/qp_counters.hpp"
#include "soft/soft_qp.hpp"

namespace iwarp::verbs::soft {

/// What a queue pair has only while it is connected.
struct SoftQp::Link {
  Link(SoftQp& qp, RdmaMode mode, std::uint32_t secret);

  // It outlives the stream: a device that does not copy still reads from it.
  connection::Core core;
  RdmaMode mode;
  tcp_offload::Stream& stream;
  PublishedCounters<connection::InboundCounters, std::size(kInboundRows)> received{kInboundRows};
  PublishedCounters<connection::OutboundCounters, std::size(kOutboundRows)> sent{kOutboundRows};

  // The receive half's.
  std::size_t accounted = 0;  // octets of halves of FPDUs that the host knows of

  // The transmit half's.
  std::error_code send_error;  // not changed any more once the output is lost

  // The engine's, as it looks at time-outs.
  struct Progress {
    std::uint64_t sent = 0, unacknowledged = 0, received = 0;
    bool operator==(const Progress&) const = default;
  };
  Progress progress;         // at the last look
  Clock::rep idle_from = 0;  // since when there has been none; 0: not looked at yet
  Clock::rep next_look = 0;
  std::chrono::milliseconds look_pause{0};

  /// Whether both peers have agreed to such an operation: EINVAL for what awaits a response with an
  /// ORD of 0, ENOTSUP for RFC 7306's where it has not been agreed on.
  [[nodiscard]] std::errc check_agreed(rdmap::Operation operation) const;
  [[nodiscard]] connection::Inbound& inbound() { return core.inbound(); }
  [[nodiscard]] connection::Outbound& outbound() { return core.outbound(); }
  [[nodiscard]] const connection::Outbound& outbound() const { return core.outbound(); }
};

/// A work request that sends nothing: what to do when its turn comes.
struct SoftQp::LocalWork {
  Opcode opcode = Opcode::kInvalidate;
  Stag invalidate;
  BindWr bind;
  RegisterWr registration;
};

/// Whether the first message of a connection is to be the peer's RTR indication.
bool awaits_rtr(const RdmaMode& mode);

/// A Terminate as the program is told of it.
TerminateInfo terminate_info(const rdmap::Terminate& message);

}  // namespace iwarp::verbs::soft
