#pragma once

#include "cm/id.hpp"

namespace iwarp::compat {

/// Listens where the id is bound. 0, or an errno.
int listen(Id& id, int backlog);

/// An id goes whose queue pair stays: its connection, or the attempt, ends at once, unless
/// rdma_disconnect() is about to end it.
void leave_connection(Id& id);

/// Tells the listener's program of a request, which lies in a new id.
void announce(Id& listener, std::unique_ptr<verbs::provider::IncomingConnection> request);

}  // namespace iwarp::compat
