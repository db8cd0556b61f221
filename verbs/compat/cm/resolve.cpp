// From names of peers to devices: binding and resolving. Both need the system's tables only, so
// their events are there at once.
#include "cm/id.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

// These name no device, as the kernel's cma_any_addr() has it. Only where the id connects to does.
bool names_no_device(const boost::asio::ip::address& address) {
  return address.is_unspecified() || address.is_loopback();
}

int bind(Id& id, const sockaddr* address) {
  auto at = endpoint_of(address);
  if (!at) return EAFNOSUPPORT;
  if (const int error = id.reservation.reserve(*at, id.reservation_terms)) return error;
  if (!names_no_device(at->address())) return id.bind_to_device(*at);
  store(id.shown.route.addr.src_storage, *at);
  return 0;
}

// The local end that leads to `to`; an address and a port that were bound stay.
int choose_source(Id& id, const Endpoint& to) {
  const auto bound = endpoint_of(&id.shown.route.addr.src_addr);
  if (bound && !bound->address().is_unspecified()) {
    return id.shown.verbs != nullptr ? 0 : id.bind_to_device(*bound);
  }
  boost::asio::ip::address source;
  if (const int error = source_for(to, source)) return error;
  Endpoint from(source, bound ? bound->port() : std::uint16_t{0});
  // The kernel's rdma_resolve_addr() chooses a port, too, which rdma_get_src_port() tells.
  if (!id.reservation.holds()) {
    if (const int error = id.reservation.reserve(from, id.reservation_terms)) return error;
  }
  return id.bind_to_device(from);
}

}  // namespace
}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  if (address == nullptr) return fail_minus(EINVAL);
  return guarded(
      [&] {
        const int error = id_of(id).origin.refuses() ? ENODEV : bind(id_of(id), address);
        return error == 0 ? 0 : fail_minus(error);
      },
      fail_minus);
}

int rdma_resolve_addr(rdma_cm_id* shown, sockaddr* source, sockaddr* destination, int) {
  return guarded(
      [&] {
        Id& id = id_of(shown);
        if (id.origin.refuses()) return fail_minus(ENODEV);
        const auto to = endpoint_of(destination);
        if (!to) return fail_minus(EAFNOSUPPORT);
        if (source != nullptr) {
          if (const int error = bind(id, source)) return fail_minus(error);
        }
        store(shown->route.addr.dst_storage, *to);
        const int error = choose_source(id, *to);
        id.report(std::make_unique<CmEvent>(
            error == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR, -error));
        return id.complete();
      },
      fail_minus);
}

// TCP finds its way itself; there are no path records.
int rdma_resolve_route(rdma_cm_id* shown, int) {
  return guarded(
      [&] {
        Id& id = id_of(shown);
        if (id.origin.refuses()) return fail_minus(ENODEV);
        if (shown->verbs == nullptr) return fail_minus(EINVAL);
        id.report(std::make_unique<CmEvent>(RDMA_CM_EVENT_ROUTE_RESOLVED));
        return id.complete();
      },
      fail_minus);
}
