// What iWARP has not (RFC 5040 knows reliable, connected streams only), and what concerns the
// kernel's modules: each fails as the interface has it.
#include <infiniband/verbs.h>

#include "core/errors.hpp"

using namespace iwarp::compat;

// --- unreliable datagrams: address handles and multicast ---

ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*) { return fail_null(EOPNOTSUPP); }
int ibv_init_ah_from_wc(ibv_context*, std::uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*) {
  return fail_minus(EOPNOTSUPP);
}
ibv_ah* ibv_create_ah_from_wc(ibv_pd*, ibv_wc*, ibv_grh*, std::uint8_t) {
  return fail_null(EOPNOTSUPP);
}
int ibv_destroy_ah(ibv_ah*) { return EINVAL; }
int ibv_attach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return EOPNOTSUPP; }
int ibv_detach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return EINVAL; }
int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, std::uint8_t[ETHERNET_LL_SIZE],
                                std::uint16_t*) {
  return EOPNOTSUPP;
}

// --- a context's descriptor handed from one process to another ---

ibv_context* ibv_import_device(int) { return fail_null(EOPNOTSUPP); }

// --- the kernel's structures, and drivers: there are none here ---

extern "C" {
void ibv_copy_ah_attr_from_kern(void*, void*) {}
void ibv_copy_qp_attr_from_kern(void*, void*) {}
void ibv_copy_path_rec_from_kern(void*, void*) {}
void ibv_copy_path_rec_to_kern(void*, void*) {}
void ibv_register_driver(const char*, void*) {}
}
