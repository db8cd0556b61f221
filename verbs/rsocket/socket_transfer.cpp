// Moving data.
#include <sys/mman.h>

#include <cerrno>

#include "socket.hpp"
#include "socket_wait.hpp"

namespace iwarp::rsocket {

namespace {

// What sockets take and this needs not, or obeys by nature.
constexpr int kReceiveFlags =
    MSG_PEEK | MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC;
constexpr int kSendFlags =
    MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL | MSG_MORE | MSG_EOR | MSG_CONFIRM | MSG_DONTROUTE;

ssize_t done_or(const Scatter& data, int error) {
  return data.passed() > 0 ? static_cast<ssize_t>(data.passed()) : -error;
}

}  // namespace

int Socket::check_connected(Lock& lock, int flags) {
  if (connecting()) {
    if (!waits(flags)) advance();
    if (connecting() && !waits(flags)) return EAGAIN;
    if (const int error = wait(lock, {}, [&] { return !connecting(); }); error != 0) return error;
  }
  if (closed_) return EBADF;
  if (state_ == State::kConnected) return 0;
  return error_ != 0 ? take_error() : ENOTCONN;
}

bool Socket::at_end() const {
  return stream_->readable() == 0 && (stream_->peer_finished() || read_shut_ || stream_->ended());
}

ssize_t Socket::receive(std::span<const iovec> to, int flags) {
  if ((flags & ~kReceiveFlags) != 0) return -EOPNOTSUPP;
  Lock lock(mutex_);
  if (const int error = check_connected(lock, flags); error != 0) return -error;
  const bool peek = (flags & MSG_PEEK) != 0;
  const bool all = (flags & MSG_WAITALL) != 0 && waits(flags) && !peek;
  const Deadline deadline = deadline_of(options_.receive_timeout);
  const auto ready = [&] { return stream_->readable() > 0 || at_end(); };
  Scatter data(to);
  while (data.left() > 0) {
    if (!ready() && advance()) waiters_.wake_all();
    if (!ready()) {
      if (!waits(flags)) return done_or(data, EAGAIN);
      if (const int error = wait(lock, deadline, ready); error != 0) return done_or(data, error);
    }
    if (at_end()) break;
    stream_->receive(data, peek ? Stream::Take::kPeek : Stream::Take::kConsume);
    if (!all) break;
  }
  // An error is told once; then there is just the end.
  if (data.left() > 0 && data.passed() == 0 && error_ != 0) return -take_error();
  return done_or(data, 0);
}

int Socket::end_of_sending() {
  if (error_ != 0) return take_error();
  return EPIPE;
}

int Socket::wait_to_send(Lock& lock, int flags, const Deadline& deadline, bool mapped) {
  const auto ready = [&] {
    const bool room = mapped ? stream_->can_write_mapped() : stream_->writable() > 0;
    return room || write_shut_ || stream_->ended();
  };
  if (!ready() && advance()) waiters_.wake_all();
  if (!ready()) {
    if (!waits(flags)) return EAGAIN;
    if (const int error = wait(lock, deadline, ready); error != 0) return error;
  }
  return write_shut_ || stream_->ended() ? end_of_sending() : 0;
}

ssize_t Socket::send(std::span<const iovec> from, int flags) {
  if ((flags & ~kSendFlags) != 0) return -EOPNOTSUPP;
  Lock lock(mutex_);
  if (const int error = check_connected(lock, flags); error != 0) return -error;
  const Deadline deadline = deadline_of(options_.send_timeout);
  Scatter data(from);
  while (data.left() > 0) {
    const int error = wait_to_send(lock, flags, deadline, false);
    if (error != 0) return done_or(data, error);
    stream_->send(data);
  }
  return done_or(data, 0);
}

ssize_t Socket::write_mapped(std::span<const iovec> from, off_t offset, int flags) {
  if ((flags & ~kSendFlags) != 0) return -EOPNOTSUPP;
  Lock lock(mutex_);
  if (const int error = check_connected(lock, flags); error != 0) return -error;
  const Deadline deadline = deadline_of(options_.send_timeout);
  Scatter data(from);
  while (data.left() > 0) {
    int error = wait_to_send(lock, flags, deadline, true);
    if (error == 0) error = stream_->write_mapped(data, static_cast<std::uint64_t>(offset));
    if (error != 0) return done_or(data, error);
  }
  return done_or(data, 0);
}

off_t Socket::map(void* memory, std::size_t length, int protection, off_t offset) {
  if (protection != PROT_NONE && protection != PROT_WRITE) return -EINVAL;
  Lock lock(mutex_);
  if (const int error = check_connected(lock, 0); error != 0) return -error;
  if (stream_->ended()) return -ENOTCONN;
  const bool remote = protection == PROT_WRITE;
  if (remote && stream_->mappings() >= static_cast<std::size_t>(options_.mappings)) return -ENOBUFS;
  // The address serves for a name of the system's choice: no two mappings share it.
  const auto name =
      offset == -1 ? static_cast<off_t>(reinterpret_cast<std::uintptr_t>(memory)) : offset;
  const int error = stream_->map(memory, length, static_cast<std::uint64_t>(name), remote);
  return error != 0 ? -error : name;
}

int Socket::unmap(const void* memory, std::size_t length) {
  const Lock lock(mutex_);
  return state_ == State::kConnected ? -stream_->unmap(memory, length) : -ENOTCONN;
}

}  // namespace iwarp::rsocket
