#pragma once

#include <memory>

#include "soft/startup/startup.hpp"
#include "soft/startup/streaming_connection.hpp"

/// MPA's start-up on connections that were used in streaming mode before (RFC 5044 §7.1.3).
namespace iwarp::verbs::soft {

/// Starts as the initiator on `socket`, which is taken unless this fails: then it is unchanged. Any
/// thread; apart from the connection the contract is start_connect()'s. No revision is tried but
/// the one asked for. Errors at once: those of start_connect() and of take_socket().
Outcome<std::unique_ptr<Startup>> adopt_as_initiator(tcp_offload::Device& device,
                                                     StreamingSocket& socket,
                                                     const ConnectOptions& options,
                                                     StartupHandler handler);
/// The same on a connection of any device.
Outcome<std::unique_ptr<Startup>> start_initiator(tcp_offload::Device& device,
                                                  StreamingConnection& streaming,
                                                  const ConnectOptions& options,
                                                  StartupHandler handler);

/// Starts as the responder on `socket`, which is taken unless this fails: then it is unchanged. Any
/// thread. The handler gets the Request on the executor as an incoming connection like
/// start_listen()'s, or an Error (see StartupResult) after which the connection is closed. Errors
/// at once: those of take_socket(). Cancelling closes the connection.
Outcome<std::unique_ptr<Startup>> adopt_as_responder(
    const std::shared_ptr<tcp_offload::Device>& device, StreamingSocket& socket,
    const provider::AwaitOptions& options, provider::AwaitHandler handler,
    AsResponder as_responder);
/// The same on a connection of any device.
std::unique_ptr<Startup> start_responder(const std::shared_ptr<tcp_offload::Device>& device,
                                         StreamingConnection streaming,
                                         const provider::AwaitOptions& options,
                                         provider::AwaitHandler handler, AsResponder as_responder);

}  // namespace iwarp::verbs::soft
