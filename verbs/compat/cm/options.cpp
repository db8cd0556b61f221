// Options of ids, and what belongs to InfiniBand alone.
#include <cstring>

#include "cm/id.hpp"
#include "core/errors.hpp"

using namespace iwarp::compat;

// Addresses are reused as it is; a type of service would be TCP's.
int rdma_set_option(rdma_cm_id* id, int level, int option, void* value, std::size_t size) {
  if (level != RDMA_OPTION_ID) return fail_minus(ENOSYS);
  std::size_t expected = 0;
  switch (option) {
    case RDMA_OPTION_ID_TOS:
    case RDMA_OPTION_ID_ACK_TIMEOUT: expected = sizeof(std::uint8_t); break;
    case RDMA_OPTION_ID_REUSEADDR:
    case RDMA_OPTION_ID_AFONLY: expected = sizeof(int); break;
    default: return fail_minus(ENOSYS);
  }
  if (value == nullptr || size != expected) return fail_minus(EINVAL);
  if (option == RDMA_OPTION_ID_AFONLY) {
    int only = 0;
    std::memcpy(&only, value, sizeof only);
    id_of(id).own_family_only = only != 0;
  }
  return 0;
}

int rdma_join_multicast(rdma_cm_id*, sockaddr*, void*) { return fail_minus(EOPNOTSUPP); }
int rdma_join_multicast_ex(rdma_cm_id*, rdma_cm_join_mc_attr_ex*, void*) {
  return fail_minus(EOPNOTSUPP);
}
int rdma_leave_multicast(rdma_cm_id*, sockaddr*) { return fail_minus(EINVAL); }

int rdma_set_local_ece(rdma_cm_id*, ibv_ece*) { return fail_minus(EOPNOTSUPP); }
int rdma_get_remote_ece(rdma_cm_id*, ibv_ece*) { return fail_minus(EOPNOTSUPP); }
int rdma_reject_ece(rdma_cm_id* id, const void* data, std::uint8_t size) {
  return ::rdma_reject(id, data, size);
}
