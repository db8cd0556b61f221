// From nothing to a connection: bind, listen, connect, and what the connection manager says.
#include <netinet/in.h>
#include <sys/epoll.h>

#include <cerrno>

#include "accept_service.hpp"
#include "socket.hpp"
#include "socket_wait.hpp"

namespace iwarp::rsocket {

namespace {

constexpr int kResolveMilliseconds = 10'000;

int checked_address(int domain, const sockaddr* address, socklen_t length) {
  if (address == nullptr) return EFAULT;
  const std::size_t least = domain == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (length < least) return EINVAL;
  return address->sa_family == domain ? 0 : EAFNOSUPPORT;
}

ConstBytes private_data_of(const rdma_cm_event& event) {
  const auto* const data = static_cast<const std::byte*>(event.param.conn.private_data);
  return {data, data != nullptr ? event.param.conn.private_data_len : std::size_t{0}};
}

/// The errno of an event that tells of a failure: its status if that is one, or else `other`.
int error_of(const rdma_cm_event& event, int other) {
  return event.status < 0 ? -event.status : other;
}

}  // namespace

bool Socket::connecting() const {
  return state_ == State::kResolvingAddress || state_ == State::kResolvingRoute ||
         state_ == State::kConnecting;
}

int Socket::apply_id_options() {
  int reuse = options_.reuse_address;
  if (reuse != 0 &&
      rdma_set_option(id_, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof reuse) != 0)
    return errno;
  int only = options_.only_v6;
  if (domain_ == AF_INET6 && only != 0 &&
      rdma_set_option(id_, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof only) != 0)
    return errno;
  return 0;
}

int Socket::bind(const sockaddr* address, socklen_t length) {
  if (const int error = checked_address(domain_, address, length); error != 0) return -error;
  const Lock lock(mutex_);
  if (state_ != State::kOpen || bound_) return -EINVAL;
  if (const int error = apply_id_options(); error != 0) return -error;
  // The connection manager does not change the address, whatever its type says.
  if (rdma_bind_addr(id_, const_cast<sockaddr*>(address)) != 0) return -errno;
  bound_ = true;
  return 0;
}

int Socket::listen(int backlog) {
  {
    const Lock lock(mutex_);
    if (state_ != State::kOpen && state_ != State::kListening) return -EINVAL;
    backlog_ = static_cast<std::size_t>(std::max(backlog, 1));
    if (state_ == State::kListening) return 0;
    if (!bound_) {
      sockaddr_storage any{};
      any.ss_family = static_cast<sa_family_t>(domain_);
      if (const int error = apply_id_options(); error != 0) return -error;
      if (rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(&any)) != 0) return -errno;
      bound_ = true;
    }
    // Peers beyond the backlog wait, as those of TCP sockets do: they are not refused.
    if (rdma_listen(id_, 0) != 0) return -errno;
    state_ = State::kListening;
  }
  return -AcceptService::instance().add(shared_from_this());
}

int Socket::connect(const sockaddr* address, socklen_t length) {
  if (const int error = checked_address(domain_, address, length); error != 0) return -error;
  Lock lock(mutex_);
  if (connecting()) advance();
  if (connecting()) return -EALREADY;
  if (state_ == State::kListening) return -EOPNOTSUPP;
  if (state_ == State::kConnected || state_ == State::kAccepting) return -EISCONN;
  if (state_ == State::kFailed) {
    // The first call after the failure of one that did not wait tells of it, the next tries anew.
    if (error_ != 0) return -take_error();
    if (const int error = start_over(); error != 0) return -error;
  }
  if (const int error = start_connecting(address); error != 0) return -error;
  if (blocking_) {
    const auto done = [&] { return !connecting(); };
    const int error = wait(lock, deadline_of(options_.send_timeout), done);
    if (error != 0) return error == EAGAIN ? -EINPROGRESS : -error;
  } else {
    advance();  // what is known at once is told at once
  }
  if (connecting()) return -EINPROGRESS;
  return state_ == State::kConnected ? 0 : -take_error();
}

int Socket::start_connecting(const sockaddr* address) {
  if (!bound_) {
    if (const int error = apply_id_options(); error != 0) return error;
  }
  auto* const destination = const_cast<sockaddr*>(address);
  if (rdma_resolve_addr(id_, nullptr, destination, kResolveMilliseconds) != 0) return errno;
  state_ = State::kResolvingAddress;
  return 0;
}

int Socket::start_over() {
  stream_.reset();
  rdma_destroy_id(std::exchange(id_, nullptr));
  if (const int error = open_id(); error != 0) return error;
  state_ = State::kOpen;
  bound_ = disconnect_called_ = end_noted_ = false;
  return 0;
}

bool Socket::take_manager_events() {
  bool any = false;
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(channel_, &event) == 0) {
    any = true;
    handle(*event);
    rdma_ack_cm_event(event);
  }
  return any;
}

void Socket::handle(const rdma_cm_event& event) {
  switch (event.event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: return resolve_route();
    case RDMA_CM_EVENT_ROUTE_RESOLVED: return request_connection();
    case RDMA_CM_EVENT_ESTABLISHED: return established(event);
    case RDMA_CM_EVENT_ADDR_ERROR: return fail(error_of(event, ENETUNREACH));
    case RDMA_CM_EVENT_ROUTE_ERROR: return fail(error_of(event, EHOSTUNREACH));
    case RDMA_CM_EVENT_UNREACHABLE: return fail(error_of(event, ETIMEDOUT));
    case RDMA_CM_EVENT_REJECTED:
      // A peer of another version, or one that is no rsocket, is told apart from none at all.
      return fail(Refusal::means_other_version(private_data_of(event)) ? EPROTO : ECONNREFUSED);
    case RDMA_CM_EVENT_CONNECT_ERROR: return fail(error_of(event, ECONNREFUSED));
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL: return disconnected();
    default: return;
  }
}

void Socket::fail(int error) {
  // The first reason counts.
  if (state_ == State::kConnected || state_ == State::kFailed) return;
  state_ = State::kFailed;
  error_ = error;
}

void Socket::resolve_route() {
  if (state_ != State::kResolvingAddress) return;
  state_ = State::kResolvingRoute;
  if (rdma_resolve_route(id_, kResolveMilliseconds) != 0) fail(errno);
}

int Socket::open_stream() {
  stream_ = std::make_unique<Stream>(id_);
  if (const int error = stream_->open(options_.sizes()); error != 0) return error;
  epoll_event event{.events = EPOLLIN, .data = {}};
  const int fd = stream_->connection().event_fd();
  return epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

rdma_conn_param Socket::parameters(const std::array<std::byte, Hello::kSize>& hello) {
  rdma_conn_param parameters{};
  parameters.private_data = hello.data();
  parameters.private_data_len = static_cast<std::uint8_t>(hello.size());
  parameters.retry_count = 7;
  parameters.rnr_retry_count = 7;
  return parameters;
}

void Socket::request_connection() {
  if (state_ != State::kResolvingRoute) return;
  state_ = State::kConnecting;
  if (const int error = open_stream(); error != 0) return fail(error);
  const auto hello = stream_->hello().encode();
  rdma_conn_param asked = parameters(hello);
  if (rdma_connect(id_, &asked) != 0) fail(errno);
}

void Socket::established(const rdma_cm_event& event) {
  if (state_ == State::kConnecting) {
    const auto hello = Hello::parse(private_data_of(event));
    if (hello) greeting_ = *hello;
  }
  if (state_ != State::kConnecting && state_ != State::kAccepting) return;
  if (!greeting_) {
    // Something accepted that is no rsocket of ours.
    disconnect();
    return fail(EPROTO);
  }
  stream_->meet(*greeting_);
  state_ = State::kConnected;
}

void Socket::disconnected() {
  if (state_ != State::kConnected) return fail(ECONNRESET);
  stream_->progress();  // what came before
  stream_->end();
  note_end();
}

}  // namespace iwarp::rsocket
