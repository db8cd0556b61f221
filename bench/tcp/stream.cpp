#include "stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace iwarp::bench {
namespace {

template <typename Value>
Value checked(Value result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

}  // namespace

Stream::Stream(process::Descriptor socket, Wait wait)
    : socket_(std::move(socket)), epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
  const int on = 1;
  checked(::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
  epoll_event none{};
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket_.get(), &none), "epoll_ctl");
  wait_by(wait);
}

void Stream::wait_by(Wait wait) {
  wait_ = wait;
  epoll_event event{};
  event.events = EPOLLIN;
  checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket_.get(), &event), "epoll_ctl");
}

void Stream::send(std::span<const std::byte> octets) {
  const int flags = MSG_NOSIGNAL | (wait_ == Wait::kBlock ? 0 : MSG_DONTWAIT);
  while (!octets.empty()) {
    const ssize_t sent = ::send(socket_.get(), octets.data(), octets.size(), flags);
    if (sent >= 0) {
      octets = octets.subspan(static_cast<std::size_t>(sent));
    } else if (errno != EINTR && errno != EAGAIN) {
      checked(sent, "send");
    } else if (wait_ == Wait::kEpoll) {
      wait_for(EPOLLOUT);
    }
  }
}

std::size_t Stream::receive(std::span<std::byte> into) {
  const int flags = wait_ == Wait::kBlock ? 0 : MSG_DONTWAIT;
  for (;;) {
    if (wait_ == Wait::kEpoll && drained_) wait_for(EPOLLIN);
    const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), flags);
    drained_ = std::cmp_less(got, into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN) checked(got, "recv");
  }
}

bool Stream::receive_all(std::span<std::byte> into) {
  while (!into.empty()) {
    const std::size_t got = receive(into);
    if (got == 0) return false;
    into = into.subspan(got);
  }
  // What was asked for is a message: what is behind it has not been looked for.
  drained_ = true;
  return true;
}

void Stream::finish() { checked(::shutdown(socket_.get(), SHUT_WR), "shutdown"); }

std::size_t Stream::segment() const {
  int value = 0;
  socklen_t size = sizeof value;
  checked(::getsockopt(socket_.get(), IPPROTO_TCP, TCP_MAXSEG, &value, &size), "TCP_MAXSEG");
  return static_cast<std::size_t>(value);
}

// Level-triggered; what is waited for changes when a sender finds no room.
void Stream::wait_for(std::uint32_t events) {
  epoll_event event{};
  if (events != EPOLLIN) {
    event.events = events;
    checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket_.get(), &event), "epoll_ctl");
  }
  const int found = ::epoll_wait(epoll_.get(), &event, 1, -1);
  if (found < 0 && errno != EINTR) checked(found, "epoll_wait");
  if (events != EPOLLIN) wait_by(wait_);
}

}  // namespace iwarp::bench
