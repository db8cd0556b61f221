#include "cm/address.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace iwarp::compat {

std::optional<Endpoint> endpoint_of(const sockaddr* from) {
  if (from == nullptr || (from->sa_family != AF_INET && from->sa_family != AF_INET6)) {
    return std::nullopt;
  }
  Endpoint endpoint(
      from->sa_family == AF_INET ? boost::asio::ip::tcp::v4() : boost::asio::ip::tcp::v6(), 0);
  std::memcpy(endpoint.data(), from, size_of(from));
  return endpoint;
}

void store(sockaddr_storage& to, const Endpoint& from) {
  to = {};
  std::memcpy(&to, from.data(), from.size());
}

socklen_t size_of(const sockaddr* address) {
  return address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

// Connecting a datagram socket sends nothing: the system looks up the route.
int source_for(const Endpoint& to, boost::asio::ip::address& source) {
  const int family = to.protocol().family();
  const int socket = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  const Endpoint probe(to.address(), to.port() == 0 ? std::uint16_t{9} : to.port());
  Endpoint local(to.protocol(), 0);
  auto size = static_cast<socklen_t>(local.capacity());
  const bool known = ::connect(socket, probe.data(), static_cast<socklen_t>(probe.size())) == 0 &&
                     ::getsockname(socket, local.data(), &size) == 0;
  const int error = known ? 0 : errno;
  ::close(socket);
  if (known) source = local.address();
  return error;
}

int Reservation::reserve(Endpoint& at) {
  release();
  const int socket = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  const int one = 1;
  auto size = static_cast<socklen_t>(at.capacity());
  const bool bound = ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                     ::bind(socket, at.data(), static_cast<socklen_t>(at.size())) == 0 &&
                     ::getsockname(socket, at.data(), &size) == 0;
  if (!bound) {
    const int error = errno;
    ::close(socket);
    return error;
  }
  socket_ = socket;
  return 0;
}

void Reservation::release() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

}  // namespace iwarp::compat
