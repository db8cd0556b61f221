#include "sink.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "support/loopback_address.hpp"

namespace iwarp::siege {
namespace {

int must(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void add(int epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  must(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

}  // namespace

Sink::Sink(double cuts)
    : epoll_(must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      listener_(must(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket")),
      cuts_(cuts) {
  const sockaddr_in at = iwarp::test::loopback(0);
  must(::bind(listener_, reinterpret_cast<const sockaddr*>(&at), sizeof at), "bind");
  must(::listen(listener_, SOMAXCONN), "listen");
  add(epoll_, listener_);
}

Sink::~Sink() {
  ::close(listener_);
  ::close(epoll_);
}

std::uint16_t Sink::port() const {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  must(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
  return ntohs(at.sin_port);
}

void Sink::turn() {
  std::array<epoll_event, 256> events;
  const int ready = ::epoll_wait(epoll_, events.data(), events.size(), 10);
  for (int i = 0; i < ready; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fd == listener_) {
      accept_all();
    } else {
      read(fd);
    }
  }
  cut();
}

void Sink::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    add(epoll_, fd);
    const auto place = static_cast<std::size_t>(fd);
    visits_.resize(std::max(visits_.size(), place + 1));
    visits_[place] = ++last_visit_;
    if (cuts_ > 0) by_age_.push_back({fd, last_visit_});
  }
}

void Sink::read(int fd) {
  static std::array<char, 65536> buffer;
  const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN)) close(fd);
}

void Sink::cut() {
  const auto now = Clock::now();
  const double passed = std::chrono::duration<double>(now - counted_).count();
  counted_ = now;
  allowance_ = std::min(allowance_ + passed * cuts_, std::max(1.0, cuts_));
  while (allowance_ >= 1 && !by_age_.empty()) {
    const Guest oldest = by_age_.front();
    by_age_.pop_front();
    if (visits_[static_cast<std::size_t>(oldest.fd)] != oldest.visit) continue;
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(oldest.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(oldest.fd);
    --allowance_;
  }
}

void Sink::close(int fd) {
  visits_[static_cast<std::size_t>(fd)] = 0;
  ::close(fd);
}

}  // namespace iwarp::siege
