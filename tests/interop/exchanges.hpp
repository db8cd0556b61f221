#pragma once

#include "peer_endpoint.hpp"

/// The protocols. Each makes its connection, runs to the end and throws a cli::CommandError at the
/// first deviation.
namespace iwarp::interop {

/// What an exchange has done.
struct Outcome {
  verbs::ConnectionInfo connection;
  verbs::QpCounters counters;
  std::uint32_t rounds = 0;  ///< Whole rounds, payload verified.
  std::uint64_t octets = 0;  ///< Verified payload.
};

/// rdma_client and rdma_server: a Send of 16 octets each way, the initiator first. rdma-core's
/// programs send zeros, this one a fixed text; both are accepted.
Outcome run_rdma_pair(verbs::Device& device, const PeerOptions& options, Role role);

/// What an rping client is asked for.
struct PingPlan {
  std::uint32_t count = 10;
  std::uint32_t size = 64;  ///< Octets, kSmallestPing to kLargestPing.
};

/// rping -c: advertises its source, which the peer reads, and its sink, which the peer writes; both
/// must then be equal.
Outcome run_rping_client(verbs::Device& device, const PeerOptions& options, const PingPlan& plan);

/// rping -s: reads the client's source, checks it, and writes it into the client's sink, until the
/// client leaves.
Outcome run_rping_server(verbs::Device& device, const PeerOptions& options);

}  // namespace iwarp::interop
