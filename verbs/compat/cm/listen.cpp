// Listening, and what a listening id gives out.
#include <algorithm>

#include "cm/connection.hpp"
#include "core/errors.hpp"
#include "shared/stack.hpp"

namespace iwarp::compat {

// A program that has not bound gets a port of the system's choice, as with sockets.
int listen(Id& id, int backlog) {
  if (is_for_datagrams(id.shown.ps)) return EOPNOTSUPP;
  if (id.step != Id::Step::kIdle && id.step != Id::Step::kBound) return EINVAL;
  auto at = endpoint_of(&id.shown.route.addr.src_addr);
  if (!at) at = Endpoint(boost::asio::ip::tcp::v4(), 0);
  const auto stack = provider();
  if (stack == nullptr) return ENODEV;
  verbs::provider::ListenOptions options;
  constexpr int kMost = 1024;  // the kernel's, which it takes for less than 1 as well
  options.backlog = backlog > 0 ? std::min(backlog, kMost) : kMost;
  id.backlog = std::make_shared<Backlog>(options.backlog);
  options.v6_only = id.reservation_terms.v6_only;
  options.traffic_class = id.traffic_class;
  id.reservation.make_room();
  auto made = stack->listen(
      *at, options, [link = id.link](std::unique_ptr<verbs::provider::IncomingConnection> request) {
        link->with([&request](Id& listener) { announce(listener, std::move(request)); });
      });
  if (!made) {
    id.reservation.take_room_back();
    return errno_of(made.error().code);
  }
  id.listener = std::move(*made);
  id.step = Id::Step::kListening;
  id.reservation.hand_over();
  store(id.shown.route.addr.src_storage, id.listener->endpoint());
  return 0;
}

namespace {

// The request as an id whose calls wait. With the attributes of rdma_create_ep() it has its queue
// pair already.
int take_request(Id& listener, rdma_cm_id** to) {
  if (listener.origin.refuses()) return fail_minus(ENODEV);
  if (listener.listener == nullptr || !listener.waits()) return fail_minus(EINVAL);
  if (listener.shown.event != nullptr) ::rdma_ack_cm_event(listener.shown.event);
  listener.shown.event = nullptr;
  rdma_cm_event* event = nullptr;
  if (::rdma_get_cm_event(listener.shown.channel, &event) != 0) return -1;
  // As librdmacm: the next call acknowledges it, or the end of the listener.
  const auto keep_and_fail = [&](int error) {
    listener.shown.event = event;
    return fail_minus(error);
  };
  if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
    return keep_and_fail(event->status < 0 ? -event->status : EINVAL);
  }
  rdma_cm_id* const id = event->id;
  const auto destroy_and_fail = [&](int error) {
    ::rdma_destroy_id(id);
    return keep_and_fail(error);
  };
  const int moved = guarded_errno([id] {
    id_of(id).move_to(nullptr);
    return 0;
  });
  if (moved != 0) return destroy_and_fail(moved);
  if (listener.endpoint_qp) {
    ibv_qp_init_attr attributes = *listener.endpoint_qp;
    if (::rdma_create_qp(id, listener.endpoint_pd, &attributes) != 0) {
      return destroy_and_fail(errno);
    }
  }
  id->event = event;
  *to = id;
  return 0;
}

}  // namespace
}  // namespace iwarp::compat

using namespace iwarp::compat;

int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  return guarded([&] { return take_request(id_of(listener), id); }, fail_minus);
}
