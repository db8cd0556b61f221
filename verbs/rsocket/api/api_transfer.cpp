// The functions of <rdma/rsocket.h> that move data.
#include <limits.h>
#include <rdma/rsocket.h>

#include <cerrno>

#include "api/api.hpp"

using iwarp::rsocket::answer;
using iwarp::rsocket::Socket;
using iwarp::rsocket::with_socket;

namespace {

/// A list of one piece. What is sent is not written to.
iovec piece(const void* memory, size_t length) { return {const_cast<void*>(memory), length}; }

ssize_t receive(int socket, std::span<const iovec> to, int flags) {
  return with_socket(socket, [&](Socket& it) { return it.receive(to, flags); });
}

ssize_t send(int socket, std::span<const iovec> from, int flags) {
  return with_socket(socket, [&](Socket& it) { return it.send(from, flags); });
}

bool is_list(const iovec* list, size_t count) {
  return count <= IOV_MAX && (list != nullptr || count == 0);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t rrecv(int socket, void* buf, size_t len, int flags) {
  const iovec to = piece(buf, len);
  return receive(socket, {&to, 1}, flags);
}

ssize_t rrecvfrom(int socket, void* buf, size_t len, int flags, struct sockaddr* src_addr,
                  socklen_t* addrlen) {
  const ssize_t received = rrecv(socket, buf, len, flags);
  if (received >= 0 && src_addr != nullptr && addrlen != nullptr)
    rgetpeername(socket, src_addr, addrlen);
  return received;
}

ssize_t rrecvmsg(int socket, struct msghdr* msg, int flags) {
  if (msg == nullptr || !is_list(msg->msg_iov, msg->msg_iovlen)) return answer<ssize_t>(-EINVAL);
  const ssize_t received = receive(socket, {msg->msg_iov, msg->msg_iovlen}, flags);
  if (received < 0) return received;
  msg->msg_namelen = 0;
  msg->msg_controllen = 0;
  msg->msg_flags = 0;
  return received;
}

ssize_t rread(int socket, void* buf, size_t count) { return rrecv(socket, buf, count, 0); }

ssize_t rreadv(int socket, const struct iovec* iov, int iovcnt) {
  if (iovcnt < 0 || !is_list(iov, static_cast<size_t>(iovcnt))) return answer<ssize_t>(-EINVAL);
  return receive(socket, {iov, static_cast<size_t>(iovcnt)}, 0);
}

ssize_t rsend(int socket, const void* buf, size_t len, int flags) {
  const iovec from = piece(buf, len);
  return send(socket, {&from, 1}, flags);
}

ssize_t rsendto(int socket, const void* buf, size_t len, int flags, const struct sockaddr*,
                socklen_t) {
  // As TCP: a connected socket has one destination.
  return rsend(socket, buf, len, flags);
}

ssize_t rsendmsg(int socket, const struct msghdr* msg, int flags) {
  if (msg == nullptr || !is_list(msg->msg_iov, msg->msg_iovlen)) return answer<ssize_t>(-EINVAL);
  if (msg->msg_control != nullptr && msg->msg_controllen > 0) return answer<ssize_t>(-EOPNOTSUPP);
  return send(socket, {msg->msg_iov, msg->msg_iovlen}, flags);
}

ssize_t rwrite(int socket, const void* buf, size_t count) { return rsend(socket, buf, count, 0); }

ssize_t rwritev(int socket, const struct iovec* iov, int iovcnt) {
  if (iovcnt < 0 || !is_list(iov, static_cast<size_t>(iovcnt))) return answer<ssize_t>(-EINVAL);
  return send(socket, {iov, static_cast<size_t>(iovcnt)}, 0);
}

off_t riomap(int socket, void* buf, size_t len, int prot, int flags, off_t offset) {
  if (flags != 0 || offset < -1) return answer<off_t>(-EINVAL);
  return with_socket(socket, [&](Socket& it) { return it.map(buf, len, prot, offset); });
}

int riounmap(int socket, void* buf, size_t len) {
  return with_socket(socket, [&](Socket& it) { return it.unmap(buf, len); });
}

size_t riowrite(int socket, const void* buf, size_t count, off_t offset, int flags) {
  if (offset < 0) return static_cast<size_t>(answer<ssize_t>(-EINVAL));
  const iovec from = piece(buf, count);
  return static_cast<size_t>(with_socket(socket, [&](Socket& it) {
    return it.write_mapped({&from, 1}, offset, flags);
  }));
}

}  // extern "C"
#pragma GCC visibility pop
