// The passive side: what a listener answers, and its queue of connections.
#include <cerrno>
#include <cstring>

#include "accept_service.hpp"
#include "socket.hpp"
#include "socket_wait.hpp"

namespace iwarp::rsocket {

bool Socket::queue_full() const { return accepted_.size() >= backlog_; }

bool Socket::takes_requests() {
  const Lock lock(mutex_);
  return state_ == State::kListening && !closed_ && !queue_full();
}

int Socket::accept(Handle& out) {
  Lock lock(mutex_);
  if (state_ != State::kListening) return -EINVAL;
  const auto ready = [&] { return !accepted_.empty() || read_shut_; };
  if (!ready() && !blocking_) return -EAGAIN;
  if (const int error = wait(lock, deadline_of(options_.receive_timeout), ready); error != 0)
    return -error;
  if (accepted_.empty()) return -EINVAL;
  const bool was_full = queue_full();
  out = std::move(accepted_.front());
  accepted_.pop_front();
  lock.unlock();
  if (was_full) AcceptService::instance().resume(*this);
  return 0;
}

Socket::Service Socket::serve(std::vector<Handle>& accepted) {
  Lock lock(mutex_);
  if (closed_) return Service::kDone;
  if (state_ == State::kListening) return serve_listener(accepted);
  take_manager_events();
  if (state_ == State::kAccepting) return Service::kContinue;
  const bool connected = state_ == State::kConnected;
  const Handle listener = listener_.lock();
  lock.unlock();
  if (connected && (!listener || !listener->offer(shared_from_this()))) close();
  return Service::kDone;
}

bool Socket::offer(Handle accepted) {
  const Lock lock(mutex_);
  if (closed_) return false;
  accepted_.push_back(std::move(accepted));
  waiters_.wake_all();
  return true;
}

Socket::Service Socket::serve_listener(std::vector<Handle>& accepted) {
  while (!queue_full()) {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel_, &event) != 0) return Service::kContinue;
    const auto kind = event->event;
    rdma_cm_id* const id = event->id;
    const auto* const data = static_cast<const std::byte*>(event->param.conn.private_data);
    std::vector<std::byte> private_data;
    if (data != nullptr) private_data.assign(data, data + event->param.conn.private_data_len);
    // Acknowledged before the id moves to a channel of its own, which waits for that.
    rdma_ack_cm_event(event);
    if (kind != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    if (Handle socket = answer(shared_from_this(), id, private_data))
      accepted.push_back(std::move(socket));
  }
  return Service::kPause;
}

Socket::Handle Socket::answer(const Handle& listener, rdma_cm_id* id, ConstBytes private_data) {
  const auto hello = Hello::parse(private_data);
  Handle socket(new Socket(listener->domain_));
  socket->options_ = listener->options_;
  socket->listener_ = listener;
  int error = hello ? socket->open_descriptors() : EPROTO;
  if (error == 0) error = socket->accept_request(id, *hello);
  if (error == 0) return socket;
  // The id is still the listener's, or the socket's; either way it can be told to reject.
  const auto refusal = Refusal::encode();
  rdma_reject(id, refusal.data(), static_cast<std::uint8_t>(refusal.size()));
  if (socket->id_ == nullptr) rdma_destroy_id(id);
  return nullptr;
}

int Socket::accept_request(rdma_cm_id* id, const Hello& peer) {
  if (rdma_migrate_id(id, channel_) != 0) return errno;
  id_ = id;
  greeting_ = peer;
  state_ = State::kAccepting;
  if (const int error = open_stream(); error != 0) return error;
  const auto hello = stream_->hello().encode();
  rdma_conn_param answer = parameters(hello);
  return rdma_accept(id_, &answer) == 0 ? 0 : errno;
}

}  // namespace iwarp::rsocket
