#pragma once

#include <memory>

#include "connection.hpp"

namespace iwarp::rnic {

/// A peer's request, with the identifier that came with it, which it takes unless it throws.
std::unique_ptr<verbs::provider::IncomingConnection> make_incoming(std::shared_ptr<Host> host,
                                                                   CmId& id, const CmEvent& event);

}  // namespace iwarp::rnic
