#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "iwarp/connection/core.hpp"
#include "support/endpoint.hpp"

namespace iwarp::test {

/// Octets of a TCP stream.
using Octets = std::vector<std::byte>;

/// The octets of a gather list.
Octets octets_of(std::span<const iovec> pieces);

/// One end of a connection: a core, and the memory and the queues of an Endpoint.
class Peer {
 public:
  Peer(Endpoint& of, const connection::Terms& terms);

  /// Sends until nothing more may leave; the stream releases all of it at once.
  Octets send(connection::MayLeave may_leave = connection::MayLeave::kEverything);
  /// Offers once; the stream accepts `accepted` octets of it and releases them if `releases`.
  Octets send_part(std::size_t accepted, bool releases = true);
  /// Offers once within `bounds`; the stream accepts `accepted` octets of it at most, and releases
  /// them. What cannot be sent is in `fault`.
  Octets send_within(const connection::OutboundLimits& bounds, std::size_t accepted = SIZE_MAX);
  /// The same until nothing is offered any more.
  Octets send_all_within(const connection::OutboundLimits& bounds);
  /// Retires the requests that are done.
  void retire();

  /// Takes octets in that have come, as a thread does: in a buffer of its own, of which it keeps
  /// what was not taken. Returns why it ended.
  connection::InboundStop receive(ConstBytes octets);
  /// As Inbound::resume(); then goes on with the octets that are kept.
  connection::InboundStop resume();

  Endpoint& endpoint;
  connection::Core core;
  connection::Batch& batch;
  connection::InboundEvents events;  ///< Of the last call of receive() or resume().
  connection::InboundLimits limits;
  std::size_t mulpdu = 1000;
  std::uint64_t released = 0;
  std::uint64_t retired = 0;
  std::optional<connection::SendFault> fault;    ///< Of the last send_within().
  std::vector<rdmap::SendDelivered> deliveries;  ///< All there were.

 private:
  void note();
};

/// Terms with an IRD and an ORD of four.
connection::Terms usual_terms();
/// The same with Markers both ways, or without.
connection::Terms usual_terms(mpa::Markers markers);

}  // namespace iwarp::test
