#include "accept_service.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "iwarp/process/forks.hpp"
#include "iwarp/process/quiet_thread.hpp"

namespace iwarp::rsocket {

AcceptService& AcceptService::instance() { return process::of_this_process<AcceptService>(); }

int AcceptService::start() {
  if (events_) return 0;
  events_ = process::Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!events_) return errno;
  try {
    process::quiet_thread([this] { run(); }).detach();
  } catch (const std::system_error& error) {
    events_ = {};
    return error.code().value();
  }
  return 0;
}

void AcceptService::watch(int operation, int fd, bool wanted) const {
  epoll_event event{.events = wanted ? EPOLLIN : 0U, .data = {.fd = fd}};
  epoll_ctl(events_.get(), operation, fd, &event);
}

int AcceptService::add(const Socket::Handle& socket) {
  const std::lock_guard lock(mutex_);
  if (const int error = start(); error != 0) return error;
  sockets_[socket->manager_fd()] = socket;
  watch(EPOLL_CTL_ADD, socket->manager_fd(), true);
  return 0;
}

void AcceptService::remove(const Socket& socket) {
  Socket::Handle last;  // dropped without the mutex
  const std::lock_guard lock(mutex_);
  if (const auto found = sockets_.find(socket.manager_fd()); found != sockets_.end()) {
    last = std::move(found->second);
    sockets_.erase(found);
    watch(EPOLL_CTL_DEL, socket.manager_fd(), false);
  }
}

void AcceptService::resume(const Socket& socket) {
  const std::lock_guard lock(mutex_);
  if (sockets_.contains(socket.manager_fd())) watch(EPOLL_CTL_MOD, socket.manager_fd(), true);
}

void AcceptService::pause(Socket& socket) {
  {
    const std::lock_guard lock(mutex_);
    if (sockets_.contains(socket.manager_fd())) watch(EPOLL_CTL_MOD, socket.manager_fd(), false);
  }
  // The program may have made room before the pause.
  if (socket.takes_requests()) resume(socket);
}

void AcceptService::run() {
  pthread_setname_np(pthread_self(), "rsocket-accept");
  while (true) {
    epoll_event event{};
    const int found = epoll_wait(events_.get(), &event, 1, -1);
    if (found == 1) serve(event.data.fd);
    if (found < 0 && errno != EINTR) return;
  }
}

void AcceptService::serve(int fd) {
  Socket::Handle socket;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sockets_.find(fd);
    if (found == sockets_.end()) return;
    socket = found->second;
  }
  std::vector<Socket::Handle> accepted;
  const Socket::Service outcome = socket->serve(accepted);
  if (outcome == Socket::Service::kDone) remove(*socket);
  if (outcome == Socket::Service::kPause) pause(*socket);
  for (const Socket::Handle& each : accepted) add(each);
}

}  // namespace iwarp::rsocket
