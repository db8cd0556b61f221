#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>

#include "iwarp/verbs/error.hpp"

namespace iwarp::rnic {

/// What of libibverbs is called by name; the rest of the verbs are calls through the device's own
/// table, which its header makes.
#define IWARP_RNIC_VERBS(X)   \
  X(ibv_get_device_list)      \
  X(ibv_free_device_list)     \
  X(ibv_get_device_name)      \
  X(ibv_open_device)          \
  X(ibv_close_device)         \
  X(ibv_query_device)         \
  X(ibv_alloc_pd)             \
  X(ibv_dealloc_pd)           \
  X(ibv_reg_mr)               \
  X(ibv_dereg_mr)             \
  X(ibv_create_comp_channel)  \
  X(ibv_destroy_comp_channel) \
  X(ibv_create_cq)            \
  X(ibv_resize_cq)            \
  X(ibv_destroy_cq)           \
  X(ibv_get_cq_event)         \
  X(ibv_ack_cq_events)        \
  X(ibv_create_srq)           \
  X(ibv_modify_srq)           \
  X(ibv_query_srq)            \
  X(ibv_destroy_srq)          \
  X(ibv_create_qp)            \
  X(ibv_modify_qp)            \
  X(ibv_query_qp)             \
  X(ibv_destroy_qp)           \
  X(ibv_get_async_event)      \
  X(ibv_ack_async_event)      \
  X(ibv_wc_status_str)        \
  X(ibv_event_type_str)

/// The same of librdmacm.
#define IWARP_RNIC_CM(X)        \
  X(rdma_get_devices)           \
  X(rdma_free_devices)          \
  X(rdma_create_event_channel)  \
  X(rdma_destroy_event_channel) \
  X(rdma_create_id)             \
  X(rdma_destroy_id)            \
  X(rdma_bind_addr)             \
  X(rdma_resolve_addr)          \
  X(rdma_resolve_route)         \
  X(rdma_connect)               \
  X(rdma_listen)                \
  X(rdma_accept)                \
  X(rdma_reject)                \
  X(rdma_disconnect)            \
  X(rdma_get_cm_event)          \
  X(rdma_ack_cm_event)          \
  X(rdma_set_option)            \
  X(rdma_init_qp_attr)          \
  X(rdma_event_str)

/// The errno of a post that returned this: libraries return it, or it with the sign turned, or -1
/// and leave it in errno.
int errno_of_post(int returned);

/// The system's rdma-core, loaded at run time and never unloaded. Any thread.
struct RdmaCore {
#define IWARP_RNIC_MEMBER(name) decltype(&::name) name = nullptr;
  IWARP_RNIC_VERBS(IWARP_RNIC_MEMBER)
  IWARP_RNIC_CM(IWARP_RNIC_MEMBER)
#undef IWARP_RNIC_MEMBER

  /// Loads it, the first time. Errors as of open_adapter().
  static verbs::Outcome<const RdmaCore*> load();
};

}  // namespace iwarp::rnic
