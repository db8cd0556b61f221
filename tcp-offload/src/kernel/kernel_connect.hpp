#pragma once

#include <memory>

#include "iwarp/tcp_offload/kernel_device.hpp"

namespace iwarp::tcp_offload::kernel {

/// Starts a connection; the handler is called on `context`.
std::unique_ptr<ConnectAttempt> start_connect(boost::asio::io_context& context,
                                              const KernelOptions& options, const LocalEnd& from,
                                              const Endpoint& to, ConnectionHandler handler);

}  // namespace iwarp::tcp_offload::kernel
