// What libibverbs exports for the libraries of adapters (IBVERBS_PRIVATE_34). There is no kernel
// below that they could talk to, but some programs are linked to such a library, and it must load.
#include <cerrno>

extern "C" {

int iwarp_private_error() {
  errno = ENOSYS;
  return ENOSYS;
}

void* iwarp_private_null() {
  errno = ENOSYS;
  return nullptr;
}

long iwarp_private_nothing() { return 0; }

bool iwarp_private_flag = false;
}

#define IWARP_PRIVATE(function, answer) \
  __asm__(".symver " #answer ", " #function "@@IBVERBS_PRIVATE_34")

IWARP_PRIVATE(__ioctl_final_num_attrs, iwarp_private_nothing);
IWARP_PRIVATE(__verbs_log, iwarp_private_nothing);
IWARP_PRIVATE(_verbs_init_and_alloc_context, iwarp_private_null);
IWARP_PRIVATE(execute_ioctl, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_advise_mr, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_alloc_dm, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_alloc_mw, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_alloc_pd, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_attach_mcast, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_close_xrcd, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_ah, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_counters, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_cq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_cq_ex, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_flow, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_flow_action_esp, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_qp, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_qp_ex, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_qp_ex2, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_rwq_ind_table, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_srq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_srq_ex, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_create_wq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_dealloc_mw, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_dealloc_pd, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_dereg_mr, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_ah, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_counters, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_cq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_flow, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_flow_action, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_qp, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_rwq_ind_table, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_srq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_destroy_wq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_detach_mcast, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_free_dm, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_get_context, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_modify_cq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_modify_flow_action_esp, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_modify_qp, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_modify_qp_ex, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_modify_srq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_modify_wq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_open_qp, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_open_xrcd, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_poll_cq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_post_recv, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_post_send, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_post_srq_recv, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_query_context, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_query_device_any, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_query_mr, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_query_port, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_query_qp, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_query_srq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_read_counters, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_reg_dm_mr, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_reg_dmabuf_mr, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_reg_mr, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_req_notify_cq, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_rereg_mr, iwarp_private_error);
IWARP_PRIVATE(ibv_cmd_resize_cq, iwarp_private_error);
IWARP_PRIVATE(ibv_read_ibdev_sysfs_file, iwarp_private_error);
IWARP_PRIVATE(verbs_allow_disassociate_destroy, iwarp_private_flag);
IWARP_PRIVATE(verbs_init_cq, iwarp_private_nothing);
IWARP_PRIVATE(verbs_open_device, iwarp_private_null);
IWARP_PRIVATE(verbs_register_driver_34, iwarp_private_nothing);
IWARP_PRIVATE(verbs_set_ops, iwarp_private_nothing);
IWARP_PRIVATE(verbs_uninit_context, iwarp_private_nothing);
