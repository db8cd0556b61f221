#include "cm/address.hpp"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

bool is_for_datagrams(int port_space) {
  return port_space == RDMA_PS_UDP || port_space == RDMA_PS_IPOIB;
}

bool names_no_device(const boost::asio::ip::address& address) {
  return address.is_unspecified() || address.is_loopback();
}

}  // namespace iwarp::compat
