// Options of ids, and what belongs to InfiniBand alone.
#include <cstring>

#include "cm/id.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

// Also of an id that is bound already, or connects: not while its connection takes the port over.
int change(Id& changed, const ReservationTerms& terms) {
  int error = 0;
  changed.link->with([&](Id& id) {
    if (id.reservation.holds()) error = id.reservation.change(terms);
    if (error == 0) id.reservation_terms = terms;
  });
  return error;
}

// As the kernel's rdma_set_service_type() and its like: what decides about an address comes before
// that is used.
int set_option(Id& id, int option, const void* value, std::size_t size) {
  const bool octet = option == RDMA_OPTION_ID_TOS || option == RDMA_OPTION_ID_ACK_TIMEOUT;
  if (size != (octet ? sizeof(std::uint8_t) : sizeof(int))) return EINVAL;
  std::uint8_t small = 0;
  int number = 0;
  std::memcpy(octet ? static_cast<void*>(&small) : &number, value, size);
  switch (option) {
    case RDMA_OPTION_ID_TOS: id.traffic_class = small; return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT: return 0;  // TCP's own
    case RDMA_OPTION_ID_REUSEADDR:
      if (id.listener != nullptr || (number == 0 && id.reservation.holds())) return EINVAL;
      return change(id, {number != 0, id.reservation_terms.v6_only});
    default:
      if (id.listener != nullptr || id.phase.load() != Id::Phase::kNone) return EINVAL;
      return change(id, {id.reservation_terms.shared, number != 0});
  }
}

bool is_known(int option) {
  return option == RDMA_OPTION_ID_TOS || option == RDMA_OPTION_ID_ACK_TIMEOUT ||
         option == RDMA_OPTION_ID_REUSEADDR || option == RDMA_OPTION_ID_AFONLY;
}

}  // namespace
}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_set_option(rdma_cm_id* id, int level, int option, void* value, std::size_t size) {
  if (value == nullptr && size != 0) return fail_minus(EFAULT);
  if (level != RDMA_OPTION_ID || !is_known(option)) return fail_minus(ENOSYS);
  return guarded(
      [&] {
        const int error = set_option(id_of(id), option, value, size);
        return error == 0 ? 0 : fail_minus(error);
      },
      fail_minus);
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
