#include "control.hpp"

#include <sys/socket.h>

#include <ctime>
#include <stdexcept>

#include "sockets.hpp"

namespace iwarp::bench::channel {

void Control::send(std::span<const std::byte> octets) {
  const ssize_t sent = ::send(socket_.get(), octets.data(), octets.size(), MSG_NOSIGNAL);
  if (checked(sent, "send") != std::ssize(octets)) throw std::runtime_error("a message was cut");
}

void Control::receive(std::span<std::byte> into) {
  const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), MSG_WAITALL);
  if (checked(got, "recv") != std::ssize(into)) throw std::runtime_error("the other end has gone");
}

void Control::finish() { checked(::shutdown(socket_.get(), SHUT_WR), "shutdown"); }

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace iwarp::bench::channel
