#pragma once

#include <poll.h>
#include <signal.h>

#include <span>

#include "waiter.hpp"

namespace iwarp::rsocket {

/// poll(2) over rsockets and other descriptors; with a mask ppoll(2), which has those signals
/// blocked while it sleeps. Returns how many have something to say, or a negative errno.
int poll_all(std::span<pollfd> fds, const Deadline& deadline, const sigset_t* mask = nullptr);

}  // namespace iwarp::rsocket
