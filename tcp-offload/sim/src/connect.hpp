#pragma once

#include <memory>

#include "fabric.hpp"
#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::tcp_offload::sim {

/// Starts a connection between two endpoints that are both complete. Fails if `from` is not on the
/// host that connects, `own`; `program` runs there.
std::unique_ptr<ConnectAttempt> start_connect(Fabric& fabric, const Endpoint& from,
                                              const Endpoint& to, const Fabric::Address& own,
                                              Program& program, ConnectionHandler handler);

}  // namespace iwarp::tcp_offload::sim
