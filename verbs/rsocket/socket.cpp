#include "socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "accept_service.hpp"
#include "iwarp/process/interruption.hpp"
#include "socket_wait.hpp"

namespace iwarp::rsocket {

Socket::Socket(int domain) : domain_(domain), options_(Options::defaults()) {}

Socket::~Socket() {
  stream_.reset();
  if (id_ != nullptr) rdma_destroy_id(id_);
  if (channel_ != nullptr) rdma_destroy_event_channel(channel_);
}

int Socket::create(int domain, Handle& out) {
  Handle socket(new Socket(domain));
  int error = socket->open_descriptors();
  if (error == 0) error = socket->open_id();
  if (error == 0) out = std::move(socket);
  return error;
}

int Socket::open_descriptors() {
  errno = 0;
  channel_ = rdma_create_event_channel();
  if (channel_ == nullptr) return errno != 0 ? errno : ENODEV;
  events_ = process::Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!events_) return errno;
  number_ = process::Descriptor(fcntl(events_.get(), F_DUPFD_CLOEXEC, 0));
  if (!number_) return errno;
  const int fd = channel_->fd;
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) return errno;
  epoll_event event{.events = EPOLLIN, .data = {}};
  return epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

int Socket::open_id() {
  return rdma_create_id(channel_, &id_, nullptr, RDMA_PS_TCP) == 0 ? 0 : errno;
}

bool Socket::advance() {
  bool changed = false;
  if (connecting()) changed = take_manager_events();
  if (state_ != State::kConnected) return changed;
  if (stream_->progress()) changed = true;
  if (stream_->ended()) note_end();
  return changed;
}

void Socket::note_end() {
  take_manager_events();
  if (std::exchange(end_noted_, true)) return;
  // Without the peer's word that it is done, something may be missing.
  if (stream_->fault() != 0)
    error_ = stream_->fault();
  else if (!stream_->peer_finished())
    error_ = ECONNRESET;
  disconnect();
  waiters_.wake_all();
}

void Socket::disconnect() {
  if (!std::exchange(disconnect_called_, true)) rdma_disconnect(id_);
}

bool Socket::prepare_sleep() {
  if (state_ != State::kConnected || stream_->ended()) return false;
  // What comes between the last look and the arming would raise no event.
  return stream_->connection().arm() != 0 || advance();
}

void Socket::after_sleep() {
  bool changed = stream_ && stream_->connection().take_events();
  if (state_ != State::kListening && state_ != State::kAccepting && take_manager_events())
    changed = true;
  // The others sleep on an event that was taken now.
  if (changed) waiters_.wake_all();
}

int Socket::sleep(Lock& lock, const Deadline& deadline) {
  Waiter& waiter = Waiter::of_this_thread();
  std::array<pollfd, 2> fds{entry(), waiter.entry()};
  // A listener's events are the AcceptService's.
  if (state_ == State::kListening) fds[0].fd = -1;
  waiters_.add(waiter);
  lock.unlock();
  int error = waiter.sleep(fds, deadline);
  if (error == EINTR && process::goes_on_after_signal()) error = 0;
  lock.lock();
  waiters_.remove(waiter);
  after_sleep();
  return error;
}

bool Socket::start_waiting(Waiter& waiter, short events) {
  const Lock lock(mutex_);
  prepare_sleep();
  if (poll_now(events) != 0) return false;
  waiters_.add(waiter);
  return true;
}

void Socket::stop_waiting(Waiter& waiter) {
  const Lock lock(mutex_);
  waiters_.remove(waiter);
  after_sleep();
}

int Socket::shutdown(int how) {
  if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) return -EINVAL;
  const Lock lock(mutex_);
  if (state_ == State::kListening) {
    // As Linux does it: a thread that waits in accept gets EINVAL.
    read_shut_ = read_shut_ || how != SHUT_WR;
    waiters_.wake_all();
    return 0;
  }
  if (state_ != State::kConnected) return -ENOTCONN;
  advance();
  if (how != SHUT_WR) read_shut_ = true;
  if (how != SHUT_RD && !std::exchange(write_shut_, true)) stream_->finish();
  waiters_.wake_all();
  return 0;
}

void Socket::drain(Lock& lock, const Deadline& deadline) {
  write_shut_ = true;
  stream_->finish();
  const auto done = [&] { return stream_->drained() || stream_->ended(); };
  wait(lock, deadline, done, Closed::kGoesOn);
}

int Socket::close_listener(Lock& lock) {
  AcceptService::instance().remove(*this);
  std::deque<Handle> orphans = std::move(accepted_);
  accepted_.clear();
  waiters_.wake_all();
  lock.unlock();
  for (const Handle& each : orphans) each->close();
  return 0;
}

int Socket::close() {
  Lock lock(mutex_);
  // First of all, so that a thread that waits is told of this and not of what follows from it.
  closed_ = true;
  waiters_.wake_all();
  if (state_ == State::kListening) return close_listener(lock);
  if (state_ != State::kConnected) return 0;
  const linger& limit = options_.linger_time;
  const bool abort = limit.l_onoff != 0 && limit.l_linger == 0;
  const auto patience = limit.l_onoff != 0 ? std::chrono::seconds(limit.l_linger) : kCloseWait;
  if (!abort) drain(lock, Clock::now() + patience);
  disconnect();
  return 0;
}

void Socket::finish_by(Clock::time_point deadline) {
  Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || state_ != State::kConnected || stream_->ended()) return;
  drain(lock, deadline);
  disconnect();
}

bool Socket::blocking() {
  const Lock lock(mutex_);
  return blocking_;
}

void Socket::set_blocking(bool blocking) {
  const Lock lock(mutex_);
  blocking_ = blocking;
}

short Socket::poll(short events) {
  const Lock lock(mutex_);
  return poll_now(events);
}

short Socket::poll_now(short events) {
  if (closed_) return POLLNVAL;
  // A poll counts as a promise of more polls: the engine leaves the socket to the polling thread
  // for a while. So there is none where the answer is known already.
  const int asked = events & (POLLIN | POLLOUT);
  const bool known =
      state_ == State::kConnected && asked != 0 && (connected_events() & asked) == asked;
  if (!known && advance()) waiters_.wake_all();
  constexpr int kAlways = POLLERR | POLLHUP;
  int now = 0;
  if (state_ == State::kOpen) now = POLLOUT | POLLHUP;
  if (state_ == State::kListening && (!accepted_.empty() || read_shut_)) now = POLLIN | POLLRDNORM;
  if (state_ == State::kFailed) now = POLLIN | POLLOUT | POLLERR | POLLHUP;
  if (state_ == State::kConnected) now = connected_events();
  return static_cast<short>(now & (events | kAlways));
}

short Socket::connected_events() const {
  const bool ended = stream_->ended();
  int now = 0;
  if (stream_->readable() > 0 || at_end()) now |= POLLIN | POLLRDNORM;
  if (at_end()) now |= POLLRDHUP;
  if (stream_->writable() > 0 || write_shut_ || ended) now |= POLLOUT | POLLWRNORM;
  // As with TCP: not before what came is read, nor just because the peer sends no more.
  if (at_end() && (write_shut_ || !stream_->peer_finished())) now |= POLLHUP;
  if (error_ != 0) now |= POLLERR;
  return static_cast<short>(now);
}

}  // namespace iwarp::rsocket
