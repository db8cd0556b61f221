// rdma_create_ep(): an id from an address that rdma_getaddrinfo() found, in one call.
#include <rdma/rdma_verbs.h>

#include "cm/id.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

constexpr int kResolvePatience = 2000;

// Programs leave it out of the attributes.
ibv_qp_type type_of(const rdma_addrinfo& at) {
  return at.ai_qp_type == 0 ? IBV_QPT_RC : static_cast<ibv_qp_type>(at.ai_qp_type);
}

int prepare_passive(Id& id, const rdma_addrinfo& at, ibv_pd* pd, const ibv_qp_init_attr* qp) {
  id.endpoint_pd = pd;
  if (qp != nullptr) {
    id.endpoint_qp = *qp;
    id.endpoint_qp->qp_type = type_of(at);
  }
  if (::rdma_bind_addr(&id.shown, at.ai_src_addr) != 0) return -1;
  if (pd != nullptr) id.shown.pd = pd;
  return 0;
}

int prepare_active(Id& id, const rdma_addrinfo& at, ibv_pd* pd, ibv_qp_init_attr* qp) {
  rdma_cm_id* const shown = &id.shown;
  if (::rdma_resolve_addr(shown, at.ai_src_addr, at.ai_dst_addr, kResolvePatience) != 0 ||
      ::rdma_resolve_route(shown, kResolvePatience) != 0) {
    return -1;
  }
  if (qp != nullptr) {
    qp->qp_type = type_of(at);
    if (::rdma_create_qp(shown, pd, qp) != 0) return -1;
  }
  const auto* data = static_cast<const std::byte*>(at.ai_connect);
  if (data != nullptr) id.endpoint_data.assign(data, data + at.ai_connect_len);
  return 0;
}

}  // namespace
}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_create_ep(rdma_cm_id** to, rdma_addrinfo* at, ibv_pd* pd, ibv_qp_init_attr* qp) {
  if (at->ai_qp_type != 0 && at->ai_qp_type != IBV_QPT_RC) return fail_minus(EOPNOTSUPP);
  rdma_cm_id* id = nullptr;
  if (::rdma_create_id(nullptr, &id, nullptr, static_cast<rdma_port_space>(at->ai_port_space)) !=
      0) {
    return -1;
  }
  const bool passive = (at->ai_flags & RAI_PASSIVE) != 0;
  const int prepared = guarded(
      [&] {
        return passive ? prepare_passive(id_of(id), *at, pd, qp)
                       : prepare_active(id_of(id), *at, pd, qp);
      },
      fail_minus);
  if (prepared != 0) {
    const int error = errno;
    ::rdma_destroy_ep(id);
    return fail_minus(error);
  }
  *to = id;
  return 0;
}

void rdma_destroy_ep(rdma_cm_id* id) {
  if (id->qp != nullptr) ::rdma_destroy_qp(id);
  if (id->srq != nullptr) ::rdma_destroy_srq(id);
  ::rdma_destroy_id(id);
}
