#pragma once

#include <cstddef>
#include <memory>

#include "iwarp/connection/core.hpp"
#include "iwarp/connection/deadlines.hpp"
#include "soft/qp/counters.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {

struct QpParts;

/// What a queue pair has only while it is connected.
struct Link {
  Link(QpParts& parts, RdmaMode rdma_mode, std::uint32_t secret);

  // It outlives the stream: a device that does not copy still reads from it.
  connection::Core core;
  RdmaMode mode;
  tcp_offload::Stream& stream;
  PublishedCounters<kInboundRows> received;
  PublishedCounters<kOutboundRows> sent;
  /// The receive half's: octets of halves of FPDUs that are accounted for.
  std::size_t accounted = 0;

  [[nodiscard]] connection::Inbound& inbound() { return core.inbound(); }
  [[nodiscard]] connection::Outbound& outbound() { return core.outbound(); }
  [[nodiscard]] const connection::Outbound& outbound() const { return core.outbound(); }
  /// What has moved. Asks the system what the peer has acknowledged.
  [[nodiscard]] connection::Progress progress() const;
  /// How long nothing may move; 0: for ever.
  [[nodiscard]] std::chrono::milliseconds idle_limit() const { return mode.liveness->idle; }
  /// Whether the first message of the connection is to be the peer's RTR indication.
  [[nodiscard]] bool awaits_rtr() const;
};

}  // namespace iwarp::verbs::soft
