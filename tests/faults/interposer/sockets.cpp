// Sockets, and what waits for them.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>

#include "wrap.hpp"

FAULT_WRAP(socket, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAULT_WRAP(bind, int, bind, (int fd, const sockaddr* at, socklen_t size), (fd, at, size))
FAULT_WRAP(listen, int, listen, (int fd, int backlog), (fd, backlog))
FAULT_WRAP(connect, int, connect, (int fd, const sockaddr* to, socklen_t size), (fd, to, size))
FAULT_WRAP(accept, int, accept, (int fd, sockaddr* from, socklen_t* size), (fd, from, size))
FAULT_WRAP(accept, int, accept4, (int fd, sockaddr* from, socklen_t* size, int flags),
           (fd, from, size, flags))
FAULT_WRAP(getsockname, int, getsockname, (int fd, sockaddr* at, socklen_t* size), (fd, at, size))
FAULT_WRAP(getpeername, int, getpeername, (int fd, sockaddr* at, socklen_t* size), (fd, at, size))
FAULT_WRAP(getsockopt, int, getsockopt, (int fd, int level, int name, void* value, socklen_t* size),
           (fd, level, name, value, size))
FAULT_WRAP(setsockopt, int, setsockopt,
           (int fd, int level, int name, const void* value, socklen_t size),
           (fd, level, name, value, size))

FAULT_WRAP(send, ssize_t, send, (int fd, const void* from, size_t size, int flags),
           (fd, from, size, flags))
FAULT_WRAP(send, ssize_t, sendto,
           (int fd, const void* from, size_t size, int flags, const sockaddr* to, socklen_t length),
           (fd, from, size, flags, to, length))
FAULT_WRAP(send, ssize_t, sendmsg, (int fd, const msghdr* message, int flags), (fd, message, flags))
FAULT_WRAP(recv, ssize_t, recv, (int fd, void* into, size_t size, int flags),
           (fd, into, size, flags))
FAULT_WRAP(recv, ssize_t, __recv_chk, (int fd, void* into, size_t size, size_t room, int flags),
           (fd, into, size, room, flags))
FAULT_WRAP(recv, ssize_t, recvfrom,
           (int fd, void* into, size_t size, int flags, sockaddr* from, socklen_t* length),
           (fd, into, size, flags, from, length))
FAULT_WRAP(recv, ssize_t, recvmsg, (int fd, msghdr* message, int flags), (fd, message, flags))

FAULT_WRAP(epoll_create, int, epoll_create, (int size), (size))
FAULT_WRAP(epoll_create, int, epoll_create1, (int flags), (flags))
// Only for what is added does the kernel need anything.
FAULT_DECLARE(int, epoll_ctl, (int set, int what, int fd, epoll_event* event));
int wrapped_epoll_ctl(int set, int what, int fd, epoll_event* event) {
  const bool adds = what == EPOLL_CTL_ADD;
  if (const int error = adds ? iwarp::faults::fault_of(iwarp::faults::Call::k_epoll_ctl) : 0) {
    return iwarp::faults::failed<int>(error);
  }
  return FAULT_NEXT(epoll_ctl)(set, what, fd, event);
}
FAULT_WRAP(epoll_wait, int, epoll_wait, (int set, epoll_event* into, int most, int timeout),
           (set, into, most, timeout))
FAULT_WRAP(epoll_wait, int, epoll_pwait,
           (int set, epoll_event* into, int most, int timeout, const sigset_t* mask),
           (set, into, most, timeout, mask))
FAULT_WRAP(poll, int, poll, (pollfd * these, nfds_t count, int timeout), (these, count, timeout))
FAULT_WRAP(poll, int, __poll_chk, (pollfd * these, nfds_t count, int timeout, size_t room),
           (these, count, timeout, room))
FAULT_WRAP(poll, int, ppoll,
           (pollfd * these, nfds_t count, const timespec* timeout, const sigset_t* mask),
           (these, count, timeout, mask))

FAULT_WRAP(eventfd, int, eventfd, (unsigned value, int flags), (value, flags))
// Of an eventfd, without waiting.
FAULT_WRAP(preadv2, ssize_t, preadv2, (int fd, const iovec* into, int count, off64_t at, int flags),
           (fd, into, count, at, flags))
FAULT_WRAP(signalfd, int, signalfd, (int fd, const sigset_t* mask, int flags), (fd, mask, flags))
FAULT_WRAP(timerfd_create, int, timerfd_create, (int clock, int flags), (clock, flags))
FAULT_WRAP(timerfd_settime, int, timerfd_settime,
           (int fd, int flags, const itimerspec* value, itimerspec* before),
           (fd, flags, value, before))

// What is called by its number.
FAULT_WRAP(syscall, long, syscall, (long number, long a, long b, long c, long d, long e, long f),
           (number, a, b, c, d, e, f))
