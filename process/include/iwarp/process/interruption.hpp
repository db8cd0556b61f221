#pragma once

namespace iwarp::process {

/// Whether a wait that a signal has interrupted goes on, as read(2) on the descriptor of a device
/// would (signal(7)): unless one of the program's handlers that this thread may run was installed
/// without SA_RESTART. poll(2) and epoll_wait(2) do not tell which has run; they end for all, and
/// epoll_wait even when a stopped process continues.
bool goes_on_after_signal();

}  // namespace iwarp::process
