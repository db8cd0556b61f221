// From names of peers to devices: binding and resolving. Both need the system's tables only, so
// their events are there at once.
#include "cm/id.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

using Step = Id::Step;

int bind(Id& id, const sockaddr* address) {
  auto at = endpoint_of(address);
  if (!at || id.step != Step::kIdle) return EINVAL;
  if (const int error = id.reservation.reserve(*at, id.reservation_terms)) return error;
  if (names_no_device(at->address())) {
    store(id.shown.route.addr.src_storage, *at);
  } else if (const int error = id.bind_to_device(*at)) {
    id.reservation.release();
    return error;
  }
  id.step = Step::kBound;
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

// What the kernel's rdma_resolve_addr() sees at once. An id that is bound keeps its own address.
int resolve(Id& id, const sockaddr* source, const sockaddr* destination) {
  const auto to = endpoint_of(destination);
  if (!to) return EINVAL;
  if (id.step == Step::kIdle && source != nullptr) {
    if (const int error = bind(id, source)) return error;
  }
  if (id.step != Step::kIdle && id.step != Step::kBound) return EINVAL;
  const auto bound = endpoint_of(&id.shown.route.addr.src_addr);
  if (bound && bound->protocol() != to->protocol()) return EINVAL;
  store(id.shown.route.addr.dst_storage, *to);
  return 0;
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
        if (const int error = resolve(id, source, destination)) return fail_minus(error);
        const int error = choose_source(id, *endpoint_of(destination));
        if (error == 0) id.step = Id::Step::kAddressResolved;
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
        if (id.step != Id::Step::kAddressResolved) return fail_minus(EINVAL);
        id.step = Id::Step::kRouteResolved;
        id.report(std::make_unique<CmEvent>(RDMA_CM_EVENT_ROUTE_RESOLVED));
        return id.complete();
      },
      fail_minus);
}
