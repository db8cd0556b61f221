#include "soft/startup/adopt.hpp"

#include <utility>

#include "soft/startup/initiator/connect_session.hpp"
#include "soft/startup/options.hpp"
#include "soft/startup/responder/adopted_responder.hpp"
#include "soft/startup/session.hpp"

namespace iwarp::verbs::soft {
namespace {

// RFC 6581 §10: falling back to revision 1 takes a new TCP connection.
ConnectOptions without_fall_back(ConnectOptions options) {
  options.fall_back = false;
  return options;
}

}  // namespace

Outcome<std::unique_ptr<Startup>> adopt_as_initiator(tcp_offload::Device& device,
                                                     StreamingSocket& socket,
                                                     const ConnectOptions& options,
                                                     StartupHandler handler) {
  if (auto checked = make_initiator(options); !checked) return failure(checked.error());
  auto streaming = take_socket(device, socket);
  if (!streaming) return failure(streaming.error());
  return start_initiator(device, *streaming, options, std::move(handler));
}

Outcome<std::unique_ptr<Startup>> start_initiator(tcp_offload::Device& device,
                                                  StreamingConnection& streaming,
                                                  const ConnectOptions& options,
                                                  StartupHandler handler) {
  const ConnectOptions terms = without_fall_back(options);
  auto initiator = make_initiator(terms);
  if (!initiator) return failure(initiator.error());
  const Endpoint to = streaming.connection->remote();
  return begin_session<StartupResult>(
      device, std::make_shared<ConnectSession>(device, to, terms, std::move(*initiator),
                                               std::move(handler), std::move(streaming)));
}

Outcome<std::unique_ptr<Startup>> adopt_as_responder(
    const std::shared_ptr<tcp_offload::Device>& device, StreamingSocket& socket,
    const provider::AwaitOptions& options, provider::AwaitHandler handler,
    AsResponder as_responder) {
  auto streaming = take_socket(*device, socket);
  if (!streaming) return failure(streaming.error());
  return start_responder(device, std::move(*streaming), options, std::move(handler),
                         std::move(as_responder));
}

std::unique_ptr<Startup> start_responder(const std::shared_ptr<tcp_offload::Device>& device,
                                         StreamingConnection streaming,
                                         const provider::AwaitOptions& options,
                                         provider::AwaitHandler handler, AsResponder as_responder) {
  return begin_session<Outcome<std::unique_ptr<provider::IncomingConnection>>>(
      *device, std::make_shared<AdoptedResponder>(device, std::move(streaming), options,
                                                  std::move(handler), std::move(as_responder)));
}

}  // namespace iwarp::verbs::soft
