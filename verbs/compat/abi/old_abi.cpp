// The interface of before 2007 (IBVERBS_1.0): its objects are laid out differently, and no program
// of today was linked against it. A caller is told so.
#include <cerrno>

extern "C" {

int iwarp_old_error() {
  errno = ENOSYS;
  return ENOSYS;
}

void* iwarp_old_null() {
  errno = ENOSYS;
  return nullptr;
}

long iwarp_old_nothing() { return 0; }
}

#define IWARP_OLD(function, answer) __asm__(".symver " #answer ", " #function "@IBVERBS_1.0")

IWARP_OLD(ibv_ack_async_event, iwarp_old_nothing);
IWARP_OLD(ibv_ack_cq_events, iwarp_old_nothing);
IWARP_OLD(ibv_alloc_pd, iwarp_old_null);
IWARP_OLD(ibv_attach_mcast, iwarp_old_error);
IWARP_OLD(ibv_close_device, iwarp_old_error);
IWARP_OLD(ibv_create_ah, iwarp_old_null);
IWARP_OLD(ibv_create_cq, iwarp_old_null);
IWARP_OLD(ibv_create_qp, iwarp_old_null);
IWARP_OLD(ibv_create_srq, iwarp_old_null);
IWARP_OLD(ibv_dealloc_pd, iwarp_old_error);
IWARP_OLD(ibv_dereg_mr, iwarp_old_error);
IWARP_OLD(ibv_destroy_ah, iwarp_old_error);
IWARP_OLD(ibv_destroy_cq, iwarp_old_error);
IWARP_OLD(ibv_destroy_qp, iwarp_old_error);
IWARP_OLD(ibv_destroy_srq, iwarp_old_error);
IWARP_OLD(ibv_detach_mcast, iwarp_old_error);
IWARP_OLD(ibv_free_device_list, iwarp_old_nothing);
IWARP_OLD(ibv_get_async_event, iwarp_old_error);
IWARP_OLD(ibv_get_cq_event, iwarp_old_error);
IWARP_OLD(ibv_get_device_guid, iwarp_old_nothing);
IWARP_OLD(ibv_get_device_list, iwarp_old_null);
IWARP_OLD(ibv_get_device_name, iwarp_old_null);
IWARP_OLD(ibv_modify_qp, iwarp_old_error);
IWARP_OLD(ibv_modify_srq, iwarp_old_error);
IWARP_OLD(ibv_open_device, iwarp_old_null);
IWARP_OLD(ibv_query_device, iwarp_old_error);
IWARP_OLD(ibv_query_gid, iwarp_old_error);
IWARP_OLD(ibv_query_pkey, iwarp_old_error);
IWARP_OLD(ibv_query_port, iwarp_old_error);
IWARP_OLD(ibv_query_qp, iwarp_old_error);
IWARP_OLD(ibv_query_srq, iwarp_old_error);
IWARP_OLD(ibv_reg_mr, iwarp_old_null);
IWARP_OLD(ibv_resize_cq, iwarp_old_error);
