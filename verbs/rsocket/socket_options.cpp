// Names and options.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "socket.hpp"

namespace iwarp::rsocket {

namespace {

int give_name(const sockaddr* name, sockaddr* address, socklen_t* length) {
  const std::size_t size = name->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (address == nullptr || length == nullptr) return -EFAULT;
  std::memcpy(address, name, std::min<std::size_t>(size, *length));
  *length = static_cast<socklen_t>(size);
  return 0;
}

}  // namespace

int Socket::local_name(sockaddr* address, socklen_t* length) {
  const Lock lock(mutex_);
  sockaddr_storage name{};
  std::memcpy(&name, rdma_get_local_addr(id_), sizeof(sockaddr_in6));
  // Before a bind, the name of no address.
  if (name.ss_family == 0) name.ss_family = static_cast<sa_family_t>(domain_);
  return give_name(reinterpret_cast<const sockaddr*>(&name), address, length);
}

int Socket::peer_name(sockaddr* address, socklen_t* length) {
  const Lock lock(mutex_);
  if (state_ != State::kConnected) return -ENOTCONN;
  return give_name(rdma_get_peer_addr(id_), address, length);
}

int Socket::set_option(int level, int name, const void* value, socklen_t length) {
  if (value == nullptr) return -EFAULT;
  const Lock lock(mutex_);
  // The one route there is leads through TCP/IP; a path record tells nothing about it.
  if (level == SOL_RDMA && name == RDMA_ROUTE) return 0;
  return -options_.set(level, name, value, length);
}

int Socket::get_option(int level, int name, void* value, socklen_t* length) {
  if (value == nullptr || length == nullptr) return -EFAULT;
  const Lock lock(mutex_);
  const auto give = [&](int number) { return -give_option(&number, sizeof number, value, length); };
  if (level == SOL_SOCKET) {
    if (name == SO_ERROR) {
      advance();
      return give(take_error());
    }
    if (name == SO_TYPE) return give(SOCK_STREAM);
    if (name == SO_DOMAIN) return give(domain_);
    if (name == SO_PROTOCOL) return give(IPPROTO_TCP);
    if (name == SO_ACCEPTCONN) return give(state_ == State::kListening ? 1 : 0);
  }
  if (level == IPPROTO_TCP && name == TCP_MAXSEG && id_->verbs != nullptr) {
    ibv_port_attr port{};
    if (const int error = ibv_query_port(id_->verbs, id_->port_num, &port); error != 0)
      return -error;
    return give(128 << port.active_mtu);
  }
  return -options_.get(level, name, value, length);
}

}  // namespace iwarp::rsocket
