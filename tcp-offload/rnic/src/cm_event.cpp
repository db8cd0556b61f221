#include "cm_event.hpp"

#include <cstring>

namespace iwarp::rnic {
namespace {

verbs::Endpoint endpoint_of(const sockaddr* address) {
  verbs::Endpoint at;
  const bool v6 = address->sa_family == AF_INET6;
  const std::size_t octets = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(at.data(), address, octets);
  at.resize(octets);
  return at;
}

}  // namespace

verbs::Endpoint local_of(rdma_cm_id* id) { return endpoint_of(rdma_get_local_addr(id)); }

verbs::Endpoint remote_of(rdma_cm_id* id) { return endpoint_of(rdma_get_peer_addr(id)); }

}  // namespace iwarp::rnic
