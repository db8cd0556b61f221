#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/error.hpp"
#include "iwarp/verbs/streaming_socket.hpp"

namespace iwarp::verbs::soft {

/// A connection in streaming mode on its way into MPA, or out of it after a rejection: what a
/// StreamingSocket is to the program, for any stream device. Belongs to the executor.
struct StreamingConnection {
  std::unique_ptr<tcp_offload::Connection> connection;
  std::vector<std::byte> already_read{};  ///< Comes before what is still to be read.
};

/// Takes `socket` over; any thread. On failure it is unchanged. Errors, which name the descriptor:
/// EBADF, ENOTSOCK, EPROTOTYPE, ENOTCONN, and ENOTSUP of a device without descriptors.
Outcome<StreamingConnection> take_socket(tcp_offload::Device& device, StreamingSocket& socket);

/// The way back, on the executor. Empty if the device has no descriptors; the connection is then
/// closed. Precondition: no operation is pending.
StreamingSocket give_socket(StreamingConnection streaming);

}  // namespace iwarp::verbs::soft
