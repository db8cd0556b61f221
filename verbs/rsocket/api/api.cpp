// The functions of <rdma/rsocket.h> but those that move data or poll.
#include "api/api.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rsocket.h>

#include <cerrno>
#include <cstdarg>

#include "api/table.hpp"

using iwarp::rsocket::answer;
using iwarp::rsocket::Socket;
using iwarp::rsocket::Table;
using iwarp::rsocket::with_socket;

#pragma GCC visibility push(default)
extern "C" {

int rsocket(int domain, int type, int protocol) {
  constexpr int kModes = SOCK_NONBLOCK | SOCK_CLOEXEC;
  if (domain != AF_INET && domain != AF_INET6) return answer(-EAFNOSUPPORT);
  // Datagrams need queue pairs of type UD, which iWARP does not have.
  if ((type & ~kModes) != SOCK_STREAM) return answer(-ESOCKTNOSUPPORT);
  if (protocol != 0 && protocol != IPPROTO_TCP) return answer(-EPROTONOSUPPORT);
  return iwarp::rsocket::guarded([&] {
    Socket::Handle socket;
    if (const int error = Socket::create(domain, socket); error != 0) return -error;
    if ((type & SOCK_NONBLOCK) != 0) socket->set_blocking(false);
    return Table::instance().add(std::move(socket));
  });
}

int rbind(int socket, const struct sockaddr* addr, socklen_t addrlen) {
  return with_socket(socket, [&](Socket& it) { return it.bind(addr, addrlen); });
}

int rlisten(int socket, int backlog) {
  return with_socket(socket, [&](Socket& it) { return it.listen(backlog); });
}

int raccept(int socket, struct sockaddr* addr, socklen_t* addrlen) {
  return with_socket(socket, [&](Socket& it) {
    Socket::Handle accepted;
    if (const int error = it.accept(accepted); error != 0) return error;
    if (addr != nullptr && addrlen != nullptr) accepted->peer_name(addr, addrlen);
    return Table::instance().add(std::move(accepted));
  });
}

int rconnect(int socket, const struct sockaddr* addr, socklen_t addrlen) {
  return with_socket(socket, [&](Socket& it) { return it.connect(addr, addrlen); });
}

int rshutdown(int socket, int how) {
  return with_socket(socket, [&](Socket& it) { return it.shutdown(how); });
}

int rclose(int socket) {
  return iwarp::rsocket::guarded([&] {
    const Socket::Handle removed = Table::instance().remove(socket);
    return removed ? removed->close() : -EBADF;
  });
}

int rgetpeername(int socket, struct sockaddr* addr, socklen_t* addrlen) {
  return with_socket(socket, [&](Socket& it) { return it.peer_name(addr, addrlen); });
}

int rgetsockname(int socket, struct sockaddr* addr, socklen_t* addrlen) {
  return with_socket(socket, [&](Socket& it) { return it.local_name(addr, addrlen); });
}

int rsetsockopt(int socket, int level, int optname, const void* optval, socklen_t optlen) {
  return with_socket(socket,
                     [&](Socket& it) { return it.set_option(level, optname, optval, optlen); });
}

int rgetsockopt(int socket, int level, int optname, void* optval, socklen_t* optlen) {
  return with_socket(socket,
                     [&](Socket& it) { return it.get_option(level, optname, optval, optlen); });
}

int rfcntl(int socket, int cmd, ...) {
  va_list arguments;
  va_start(arguments, cmd);
  const int argument = cmd == F_SETFL || cmd == F_SETFD ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return with_socket(socket, [&](Socket& it) {
    switch (cmd) {
      case F_GETFL: return O_RDWR | (it.blocking() ? 0 : O_NONBLOCK);
      case F_SETFL: it.set_blocking((argument & O_NONBLOCK) == 0); return 0;
      case F_GETFD: return fcntl(it.number(), F_GETFD);
      case F_SETFD: return fcntl(it.number(), F_SETFD, argument);
      default: return -EINVAL;
    }
  });
}

}  // extern "C"
#pragma GCC visibility pop
