#pragma once

#include <memory>

#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::verbs::soft {

/// Closes a connection such that the peer gets what was written before, as StreamCloser does, with
/// kDefaultLinger. On the executor; owns itself until then. Precondition: no operation is pending.
void close_gently(tcp_offload::Device& device, std::unique_ptr<tcp_offload::Connection> connection);

}  // namespace iwarp::verbs::soft
