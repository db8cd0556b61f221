#pragma once

#include "cm/id.hpp"

namespace iwarp::compat {

/// Listens where the id is bound. 0, or an errno.
int listen(Id& id, int backlog);

/// Tells the listener's program of a request, which lies in a new id.
void announce(Id& listener, std::unique_ptr<verbs::provider::IncomingConnection> request);

}  // namespace iwarp::compat
