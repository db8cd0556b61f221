#pragma once

#include <memory>

#include "host.hpp"

namespace iwarp::rnic {

/// Listens at an address of the adapter. As Provider::listen().
verbs::Outcome<std::shared_ptr<verbs::provider::Listener>> start_listen(
    const std::shared_ptr<Host>& host, const verbs::Endpoint& at,
    const verbs::provider::ListenOptions& options, verbs::provider::IncomingHandler handler);

}  // namespace iwarp::rnic
