// rdma_getaddrinfo(): names and services into addresses, by the system's resolver.
#include <netdb.h>
#include <rdma/rdma_cma.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "cm/address.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

using Owned = std::unique_ptr<rdma_addrinfo, decltype(&::rdma_freeaddrinfo)>;

// The structure belongs to the program, which gives it back: what is in it is malloc's.
sockaddr* copy_of(const sockaddr* from, socklen_t size) {
  auto* const copy = static_cast<sockaddr*>(std::malloc(sizeof(sockaddr_storage)));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, from, std::min<std::size_t>(size, sizeof(sockaddr_storage)));
  return copy;
}

Owned make_info(const rdma_addrinfo* hints) {
  Owned info(static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))),
             &::rdma_freeaddrinfo);
  if (info == nullptr) throw std::bad_alloc();
  // What the hints leave open follows from what they say.
  if (hints != nullptr) {
    info->ai_qp_type = hints->ai_qp_type;
    info->ai_port_space = hints->ai_port_space;
  }
  if (info->ai_qp_type == 0) {
    info->ai_qp_type = is_for_datagrams(info->ai_port_space) ? IBV_QPT_UD : IBV_QPT_RC;
  }
  if (info->ai_port_space == 0) {
    info->ai_port_space = info->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
  }
  return info;
}

void take_source(rdma_addrinfo& to, const rdma_addrinfo& hints) {
  if (hints.ai_src_len == 0) return;
  to.ai_src_addr = copy_of(hints.ai_src_addr, hints.ai_src_len);
  to.ai_src_len = hints.ai_src_len;
}

addrinfo resolver_hints(const rdma_addrinfo* hints, bool passive) {
  addrinfo to{};
  to.ai_socktype = SOCK_STREAM;
  if (passive) to.ai_flags |= AI_PASSIVE;
  if (hints == nullptr) return to;
  if ((hints->ai_flags & RAI_NUMERICHOST) != 0) to.ai_flags |= AI_NUMERICHOST;
  if (hints->ai_family == AF_INET || hints->ai_family == AF_INET6) to.ai_family = hints->ai_family;
  return to;
}

void fill(rdma_addrinfo& to, const addrinfo& from, const rdma_addrinfo* hints, bool passive) {
  to.ai_family = from.ai_family;
  sockaddr*& address = passive ? to.ai_src_addr : to.ai_dst_addr;
  address = copy_of(from.ai_addr, from.ai_addrlen);
  (passive ? to.ai_src_len : to.ai_dst_len) = from.ai_addrlen;
  if (passive) {
    to.ai_flags = RAI_PASSIVE;
  } else if (hints != nullptr) {
    take_source(to, *hints);
  }
}

// Hints that hold the addresses need no names.
Owned taken_from(const rdma_addrinfo& hints) {
  Owned info = make_info(&hints);
  take_source(*info, hints);
  if (hints.ai_dst_len != 0) {
    info->ai_dst_addr = copy_of(hints.ai_dst_addr, hints.ai_dst_len);
    info->ai_dst_len = hints.ai_dst_len;
  }
  const sockaddr* const one = info->ai_dst_len != 0 ? info->ai_dst_addr : info->ai_src_addr;
  info->ai_family = one->sa_family;
  info->ai_flags = hints.ai_flags & RAI_PASSIVE;
  return info;
}

int resolve(const char* node, const char* service, const rdma_addrinfo* hints,
            rdma_addrinfo** result) {
  const bool passive = hints != nullptr && (hints->ai_flags & RAI_PASSIVE) != 0;
  if (node == nullptr && service == nullptr && hints == nullptr) return fail_minus(EINVAL);
  const addrinfo asked = resolver_hints(hints, passive);
  addrinfo* found = nullptr;
  if (node == nullptr && service == nullptr) {
    if (hints->ai_src_len != 0 || hints->ai_dst_len != 0) {
      *result = taken_from(*hints).release();
      return 0;
    }
    if (!passive) return fail_minus(EINVAL);
  }
  const int code = ::getaddrinfo(node, service == nullptr ? "0" : service, &asked, &found);
  if (code != 0) {
    if (code == EAI_SYSTEM) return -1;
    errno = code == EAI_MEMORY ? ENOMEM : (code == EAI_NONAME ? ENODEV : EINVAL);
    return code;  // as librdmacm passes on what the resolver says
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Owned info = make_info(hints);
  fill(*info, *found, hints, passive);
  *result = info.release();
  return 0;
}

}  // namespace
}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                     rdma_addrinfo** result) {
  return guarded([&] { return resolve(node, service, hints, result); }, fail_minus);
}

void rdma_freeaddrinfo(rdma_addrinfo* info) {
  while (info != nullptr) {
    rdma_addrinfo* const next = info->ai_next;
    std::free(info->ai_src_addr);
    std::free(info->ai_dst_addr);
    std::free(info->ai_src_canonname);
    std::free(info->ai_dst_canonname);
    std::free(info->ai_route);
    std::free(info->ai_connect);
    std::free(info);
    info = next;
  }
}
