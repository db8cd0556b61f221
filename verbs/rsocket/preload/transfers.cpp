// Socket calls that move data, as rsocket calls.
#include <rdma/rsocket.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "descriptors.hpp"
#include "next.hpp"

using iwarp::rspreload::rsocket_of;

// What programs compiled with _FORTIFY_SOURCE call; no header declares them without it.
extern "C" {
ssize_t __read_chk(int fd, void* buffer, size_t length, size_t room);
ssize_t __recv_chk(int fd, void* buffer, size_t length, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void* buffer, size_t length, size_t room, int flags,
                       struct sockaddr* address, socklen_t* address_length);
[[noreturn]] void __chk_fail();
}

namespace {

/// From a file to an rsocket: what one buffer holds, at the file's position or at `*offset`.
ssize_t send_file(int rsocket, int file, off_t* offset, size_t count) {
  std::vector<char> copy(std::min<size_t>(count, 256 * 1024));
  const off_t start = offset != nullptr ? *offset : lseek(file, 0, SEEK_CUR);
  const ssize_t found = pread(file, copy.data(), copy.size(), start);
  if (found <= 0) return found;
  const ssize_t sent = rsend(rsocket, copy.data(), static_cast<size_t>(found), 0);
  if (sent < 0) return sent;
  if (offset != nullptr)
    *offset += sent;
  else
    lseek(file, start + sent, SEEK_SET);
  return sent;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t recv(int fd, void* buffer, size_t length, int flags) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(recv)(fd, buffer, length, flags)
                     : rrecv(rsocket, buffer, length, flags);
}

ssize_t recvfrom(int fd, void* buffer, size_t length, int flags, struct sockaddr* address,
                 socklen_t* address_length) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(recvfrom)(fd, buffer, length, flags, address, address_length)
                     : rrecvfrom(rsocket, buffer, length, flags, address, address_length);
}

ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(recvmsg)(fd, message, flags) : rrecvmsg(rsocket, message, flags);
}

ssize_t read(int fd, void* buffer, size_t length) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(read)(fd, buffer, length) : rread(rsocket, buffer, length);
}

ssize_t readv(int fd, const struct iovec* list, int count) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(readv)(fd, list, count) : rreadv(rsocket, list, count);
}

ssize_t __read_chk(int fd, void* buffer, size_t length, size_t room) {
  if (length > room) __chk_fail();
  return read(fd, buffer, length);
}

ssize_t __recv_chk(int fd, void* buffer, size_t length, size_t room, int flags) {
  if (length > room) __chk_fail();
  return recv(fd, buffer, length, flags);
}

ssize_t __recvfrom_chk(int fd, void* buffer, size_t length, size_t room, int flags,
                       struct sockaddr* address, socklen_t* address_length) {
  if (length > room) __chk_fail();
  return recvfrom(fd, buffer, length, flags, address, address_length);
}

ssize_t send(int fd, const void* buffer, size_t length, int flags) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(send)(fd, buffer, length, flags)
                     : rsend(rsocket, buffer, length, flags);
}

ssize_t sendto(int fd, const void* buffer, size_t length, int flags, const struct sockaddr* address,
               socklen_t address_length) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(sendto)(fd, buffer, length, flags, address, address_length)
                     : rsendto(rsocket, buffer, length, flags, address, address_length);
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(sendmsg)(fd, message, flags) : rsendmsg(rsocket, message, flags);
}

ssize_t write(int fd, const void* buffer, size_t length) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(write)(fd, buffer, length) : rwrite(rsocket, buffer, length);
}

ssize_t writev(int fd, const struct iovec* list, int count) {
  const int rsocket = rsocket_of(fd);
  return rsocket < 0 ? NEXT(writev)(fd, list, count) : rwritev(rsocket, list, count);
}

ssize_t sendfile(int to, int from, off_t* offset, size_t count) __THROW {
  const int rsocket = rsocket_of(to);
  return rsocket < 0 ? NEXT(sendfile)(to, from, offset, count)
                     : send_file(rsocket, from, offset, count);
}

ssize_t sendfile64(int to, int from, off64_t* offset, size_t count) __THROW {
  const int rsocket = rsocket_of(to);
  return rsocket < 0 ? NEXT(sendfile64)(to, from, offset, count)
                     : send_file(rsocket, from, offset, count);
}

}  // extern "C"
#pragma GCC visibility pop
