#pragma once

#include <poll.h>
#include <signal.h>

#include <span>

#include "waiter.hpp"

namespace iwarp::rsocket {

/// poll(2) over rsockets and other descriptors. Returns how many have something to say, or a
/// negative errno.
int poll_all(std::span<pollfd> fds, const Deadline& deadline);

}  // namespace iwarp::rsocket
