#include "cm/address.hpp"

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "iwarp/tcp_offload/process.hpp"

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

namespace {

void set_reuse(int socket, bool reuse) {
  const int value = reuse ? 1 : 0;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
}

// The kernel's rdma_bind_addr() looks for the interface of an address, but not of a loopback one:
// on a host whose lo has none libfabric still finds its devices by an id that is bound there.
void take_loopback_without_interface(int socket, const Endpoint& at) {
  if (!at.address().is_loopback()) return;
  const int one = 1;
  if (at.address().is_v4()) {
    ::setsockopt(socket, IPPROTO_IP, IP_FREEBIND, &one, sizeof one);
  } else {
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof one);
  }
}

int bind_socket(int socket, Endpoint& at, bool reuse) {
  set_reuse(socket, reuse);
  take_loopback_without_interface(socket, at);
  auto size = static_cast<socklen_t>(at.capacity());
  const bool bound = ::bind(socket, at.data(), static_cast<socklen_t>(at.size())) == 0 &&
                     ::getsockname(socket, at.data(), &size) == 0;
  return bound ? 0 : errno;
}

bool is_wildcard(const Endpoint& at) { return at.address().is_unspecified(); }

// As the kernel's cma_any_addr().
bool is_any(const Endpoint& at) { return is_wildcard(at) || at.address().is_loopback(); }

// The ports that this process keeps.
struct Reserved {
  std::mutex mutex;
  std::vector<Endpoint> at;

  static Reserved& get() { return tcp_offload::of_this_process<Reserved>(); }
  void add(const Endpoint& endpoint) {
    const std::lock_guard lock(mutex);
    at.push_back(endpoint);
  }
  void remove(const Endpoint& endpoint) {
    const std::lock_guard lock(mutex);
    const auto found = std::find(at.begin(), at.end(), endpoint);
    if (found != at.end()) at.erase(found);
  }
  bool overlaps(const Endpoint& endpoint) {
    return holds([&](const Endpoint& each) {
      return each.port() == endpoint.port() &&
             (is_wildcard(each) || is_wildcard(endpoint) || each.address() == endpoint.address());
    });
  }
  bool has_any_at(std::uint16_t port) {
    return holds([port](const Endpoint& each) { return each.port() == port && is_any(each); });
  }

 private:
  template <typename Predicate>
  bool holds(const Predicate& predicate) {
    const std::lock_guard lock(mutex);
    return std::any_of(at.begin(), at.end(), predicate);
  }
};

// cma_check_port() says so where it is a wildcard or loopback address that cannot be had, or that
// another id has.
int as_the_kernel_says(int error, const Endpoint& at) {
  const bool any = error == EADDRINUSE && (is_any(at) || Reserved::get().has_any_at(at.port()));
  return any ? EADDRNOTAVAIL : error;
}

}  // namespace

bool is_for_datagrams(int port_space) {
  return port_space == RDMA_PS_UDP || port_space == RDMA_PS_IPOIB;
}

// Connections that were accepted at the port keep it from a socket that does not reuse addresses;
// perftest listens anew while it has one. Behind the binding the port is not to be reused, so that
// the system refuses it to whatever comes next, a socket that does reuse addresses included.
int Reservation::reserve(Endpoint& at, const ReservationTerms& terms) {
  release();
  const int socket = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  if (terms.v6_only && at.protocol() == boost::asio::ip::tcp::v6()) {
    const int only = *terms.v6_only ? 1 : 0;
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  }
  int error = bind_socket(socket, at, terms.shared);
  if (error == EADDRINUSE && !terms.shared && !Reserved::get().overlaps(at)) {
    error = bind_socket(socket, at, true);
  }
  if (error != 0) {
    ::close(socket);
    return as_the_kernel_says(error, at);
  }
  set_reuse(socket, terms.shared);
  socket_ = socket;
  at_ = at;
  Reserved::get().add(at_);
  return 0;
}

void Reservation::share() const {
  if (holds()) set_reuse(socket_, true);
}

void Reservation::release() {
  if (!holds()) return;
  ::close(std::exchange(socket_, -1));
  Reserved::get().remove(at_);
}

}  // namespace iwarp::compat
