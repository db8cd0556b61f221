// Socket calls that make, name and configure sockets, as rsocket calls.
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rsocket.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <vector>

#include "descriptors.hpp"
#include "next.hpp"

using iwarp::rspreload::close_noted;
using iwarp::rspreload::is_needed_by_others;
using iwarp::rspreload::note;
using iwarp::rspreload::note_duplicate;
using iwarp::rspreload::rsocket_of;

namespace {

/// Whether the call came from the library that rsockets live in. Its TCP connections are its own.
bool is_from_transport(const void* caller) {
  Dl_info of_caller{}, of_transport{};
  return dladdr(caller, &of_caller) != 0 &&
         dladdr(reinterpret_cast<const void*>(&rsocket), &of_transport) != 0 &&
         of_caller.dli_fbase == of_transport.dli_fbase;
}

bool is_for_rsockets(int domain, int type, int protocol) {
  constexpr int kModes = SOCK_NONBLOCK | SOCK_CLOEXEC;
  return (domain == AF_INET || domain == AF_INET6) && (type & ~kModes) == SOCK_STREAM &&
         (protocol == 0 || protocol == IPPROTO_TCP);
}

int accept_rsocket(int rsocket, sockaddr* address, socklen_t* length, int flags) {
  const int accepted = raccept(rsocket, address, length);
  if (accepted < 0) return -1;
  if ((flags & SOCK_NONBLOCK) != 0) rfcntl(accepted, F_SETFL, O_NONBLOCK);
  return note(accepted);
}

/// What a read would give now, up to a limit: FIONREAD.
int count_readable(int rsocket) {
  std::vector<char> copy(64 * 1024);
  const ssize_t count = rrecv(rsocket, copy.data(), copy.size(), MSG_PEEK | MSG_DONTWAIT);
  return static_cast<int>(std::max<ssize_t>(count, 0));
}

int control_rsocket(int fd, int rsocket, int command, void* argument) {
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: {
      const int copy = NEXT(fcntl)(fd, command, argument);
      return copy < 0 ? -1 : note_duplicate(copy, rsocket);
    }
    case F_GETFL:
    case F_SETFL:
      return rfcntl(rsocket, command, static_cast<int>(reinterpret_cast<std::intptr_t>(argument)));
    default:
      // Of the descriptor rather than the socket.
      return NEXT(fcntl)(fd, command, argument);
  }
}

/// Makes `to` free for a copy of `from`: dup2 closes it. Returns 0, or an errno, with nothing
/// closed: EBUSY where other descriptors mean the rsocket whose own number `to` is.
int make_way(int from, int to) {
  if (NEXT(fcntl)(from, F_GETFD) < 0) return errno;
  if (is_needed_by_others(to)) return EBUSY;
  if (const int rsocket = rsocket_of(to); rsocket >= 0) close_noted(to, rsocket);
  return 0;
}

/// dup2 and dup3, by `copy`.
int duplicate_to(int from, int to, auto copy) {
  if (const int error = from == to ? 0 : make_way(from, to); error != 0) {
    errno = error;
    return -1;
  }
  const int made = copy(), rsocket = rsocket_of(from);
  return made < 0 || rsocket < 0 || from == to ? made : note_duplicate(made, rsocket);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int socket(int domain, int type, int protocol) __THROW {
  if (is_for_rsockets(domain, type, protocol) && !is_from_transport(__builtin_return_address(0))) {
    if (const int made = rsocket(domain, type, protocol); made >= 0) return note(made);
  }
  // Without a device, a socket is still a socket.
  return NEXT(socket)(domain, type, protocol);
}

int bind(int fd, const struct sockaddr* address, socklen_t length) __THROW {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(bind)(fd, address, length) : rbind(rsocket, address, length);
}

int listen(int fd, int backlog) __THROW {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(listen)(fd, backlog) : rlisten(rsocket, backlog);
}

int accept(int fd, struct sockaddr* address, socklen_t* length) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(accept)(fd, address, length)
                     : accept_rsocket(rsocket, address, length, 0);
}

int accept4(int fd, struct sockaddr* address, socklen_t* length, int flags) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(accept4)(fd, address, length, flags)
                     : accept_rsocket(rsocket, address, length, flags);
}

int connect(int fd, const struct sockaddr* address, socklen_t length) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(connect)(fd, address, length) : rconnect(rsocket, address, length);
}

int shutdown(int fd, int how) __THROW {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(shutdown)(fd, how) : rshutdown(rsocket, how);
}

int close(int fd) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(close)(fd) : close_noted(fd, rsocket);
}

int dup(int fd) __THROW {
  const int copy = NEXT(dup)(fd), rsocket = rsocket_of(fd);
  return copy < 0 || rsocket < 0 ? copy : note_duplicate(copy, rsocket);
}

int dup2(int from, int to) __THROW {
  return duplicate_to(from, to, [&] { return NEXT(dup2)(from, to); });
}

int dup3(int from, int to, int flags) __THROW {
  return duplicate_to(from, to, [&] { return NEXT(dup3)(from, to, flags); });
}

int getpeername(int fd, struct sockaddr* address, socklen_t* length) __THROW {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(getpeername)(fd, address, length)
                     : rgetpeername(rsocket, address, length);
}

int getsockname(int fd, struct sockaddr* address, socklen_t* length) __THROW {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(getsockname)(fd, address, length)
                     : rgetsockname(rsocket, address, length);
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t length) __THROW {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(setsockopt)(fd, level, name, value, length)
                     : rsetsockopt(rsocket, level, name, value, length);
}

int getsockopt(int fd, int level, int name, void* value, socklen_t* length) __THROW {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(getsockopt)(fd, level, name, value, length)
                     : rgetsockopt(rsocket, level, name, value, length);
}

// The argument of both is an integer or a pointer: either fits in a pointer's register.
int fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(fcntl)(fd, command, argument)
                     : control_rsocket(fd, rsocket, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(fcntl64)(fd, command, argument)
                     : control_rsocket(fd, rsocket, command, argument);
}

int ioctl(int fd, unsigned long request, ...) __THROW {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const int rsocket = rsocket_of(fd);
  if (rsocket >= 0 && request == FIONBIO)
    return rfcntl(rsocket, F_SETFL, *static_cast<int*>(argument) != 0 ? O_NONBLOCK : 0);
  if (rsocket >= 0 && request == FIONREAD) {
    *static_cast<int*>(argument) = count_readable(rsocket);
    return 0;
  }
  return NEXT(ioctl)(fd, request, argument);
}

}  // extern "C"
#pragma GCC visibility pop
