// Queue pairs of ids, and the completion queues that go with them.
#include "core/qp.hpp"

#include <rdma/rdma_verbs.h>

#include "cm/id.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

struct CqPlace {
  ibv_comp_channel** channel;
  ibv_cq** cq;
};

bool make_cq(rdma_cm_id& id, CqPlace to, std::uint32_t depth) {
  *to.channel = ::ibv_create_comp_channel(id.verbs);
  if (*to.channel == nullptr) return false;
  *to.cq = ::ibv_create_cq(id.verbs, static_cast<int>(depth), &id, *to.channel, 0);
  return *to.cq != nullptr;
}

void destroy_cq(CqPlace at) {
  if (*at.cq != nullptr) ::ibv_destroy_cq(*at.cq);
  if (*at.channel != nullptr) ::ibv_destroy_comp_channel(*at.channel);
  *at.cq = nullptr;
  *at.channel = nullptr;
}

void destroy_cqs(rdma_cm_id& id) {
  destroy_cq({&id.recv_cq_channel, &id.recv_cq});
  destroy_cq({&id.send_cq_channel, &id.send_cq});
}

// The program's queues, or new ones in place of those that it did not bring: only these are the
// id's.
template <typename Attributes>
bool provide_cqs(rdma_cm_id& shown, Attributes& attributes) {
  const auto provide = [&](ibv_cq*& wanted, CqPlace place, std::uint32_t depth) {
    if (wanted != nullptr) return true;
    if (*place.cq == nullptr && !make_cq(shown, place, std::max(depth, 1U))) return false;
    wanted = *place.cq;
    return true;
  };
  return provide(attributes.recv_cq, {&shown.recv_cq_channel, &shown.recv_cq},
                 attributes.cap.max_recv_wr) &&
         provide(attributes.send_cq, {&shown.send_cq_channel, &shown.send_cq},
                 attributes.cap.max_send_wr);
}

// A protection domain belongs to the context of the id, whichever else has been opened.
bool is_of(const rdma_cm_id& id, const ibv_pd& pd) {
  return id.verbs == nullptr || id.verbs == pd.context;
}

// `make` makes the queue pair from the attributes.
template <typename Attributes, typename Make>
int make_qp(Id& id, Attributes& attributes, Make make) {
  rdma_cm_id& shown = id.shown;
  if (id.origin.refuses()) return fail_minus(ENODEV);
  if (shown.verbs == nullptr) return fail_minus(EINVAL);
  if (shown.qp != nullptr) return fail_minus(EINVAL);
  if (attributes.srq == nullptr) attributes.srq = shown.srq;
  if (!provide_cqs(shown, attributes)) {
    const int error = errno;
    destroy_cqs(shown);
    return fail_minus(error);
  }
  shown.qp = make();
  if (shown.qp == nullptr) {
    const int error = errno;
    destroy_cqs(shown);
    return fail_minus(error);
  }
  shown.qp->state = IBV_QPS_INIT;
  shown.qp_type = attributes.qp_type;
  return 0;
}

}  // namespace
}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_create_qp(rdma_cm_id* shown, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  Id& id = id_of(shown);
  ibv_pd* const from = pd != nullptr ? pd : shown->pd;
  if (from == nullptr || !is_of(*shown, *from)) return fail_minus(EINVAL);
  const int result = make_qp(id, *attributes, [&] { return create_managed_qp(from, attributes); });
  if (result == 0) shown->pd = from;
  return result;
}

int rdma_create_qp_ex(rdma_cm_id* shown, ibv_qp_init_attr_ex* attributes) {
  if ((attributes->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attributes->pd == nullptr) {
    attributes->comp_mask |= IBV_QP_INIT_ATTR_PD;
    attributes->pd = shown->pd;
  }
  if (attributes->pd == nullptr || !is_of(*shown, *attributes->pd)) return fail_minus(EINVAL);
  const int result =
      make_qp(id_of(shown), *attributes, [&] { return create_managed_qp_ex(attributes); });
  if (result == 0) shown->pd = attributes->pd;
  return result;
}

void rdma_destroy_qp(rdma_cm_id* shown) {
  if (shown->qp == nullptr || id_of(shown).origin.inherited()) return;
  // A program may have destroyed it by ibv_destroy_qp().
  if (is_there(shown->qp)) ::ibv_destroy_qp(shown->qp);
  shown->qp = nullptr;
  destroy_cqs(*shown);
}

int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attributes) {
  ibv_pd* const from = pd != nullptr ? pd : id->pd;
  if (from == nullptr) return fail_minus(EINVAL);
  id->srq = ::ibv_create_srq(from, attributes);
  if (id->srq == nullptr) return -1;
  if (id->pd == nullptr) id->pd = from;
  return 0;
}

int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attributes) {
  if ((attributes->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0) return fail_minus(EINVAL);
  if ((attributes->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attributes->pd == nullptr) {
    attributes->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    attributes->pd = id->pd;
  }
  if (id->verbs == nullptr || attributes->pd == nullptr) return fail_minus(EINVAL);
  id->srq = ::ibv_create_srq_ex(id->verbs, attributes);
  if (id->srq == nullptr) return -1;
  if (id->pd == nullptr) id->pd = attributes->pd;
  return 0;
}

void rdma_destroy_srq(rdma_cm_id* id) {
  if (id->srq != nullptr) ::ibv_destroy_srq(id->srq);
  id->srq = nullptr;
}

// For programs that change the state of their queue pair themselves. On iWARP the connection does.
int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attributes, int* mask) {
  switch (attributes->qp_state) {
    case IBV_QPS_INIT:
      *mask = 0;
      if (id_of(id).connected()) return 0;
      attributes->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
      attributes->port_num = id->port_num;
      *mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT;
      return 0;
    case IBV_QPS_RTR:
    case IBV_QPS_RTS: *mask = 0; return 0;
    default: return fail_minus(EINVAL);
  }
}
