#pragma once

#include <functional>
#include <string>

#include "address.hpp"
#include "start_up/connection_life.hpp"

namespace iwarp::cli {

/// Calls `attempt` with one address of the server after the other, in the system's order of
/// preference, until one does not throw an Unreachable. Throws a CommandError that tells of each.
void reach(const HostPort& server, const std::function<void(const verbs::Endpoint&)>& attempt);

}  // namespace iwarp::cli
