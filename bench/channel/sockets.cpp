#include "sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <stdexcept>

namespace iwarp::bench::channel {
namespace {

process::Descriptor make_socket() {
  return process::Descriptor(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

}  // namespace

sockaddr_in endpoint(const std::string& address, std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &at.sin_addr) != 1) {
    throw std::runtime_error("no IPv4 address: " + address);
  }
  return at;
}

process::Descriptor listen_at(sockaddr_in& at) {
  auto socket = make_socket();
  socklen_t size = sizeof at;
  checked(::bind(socket.get(), as_sockaddr(at), size), "bind");
  checked(::listen(socket.get(), kBacklog), "listen");
  checked(::getsockname(socket.get(), as_sockaddr(at), &size), "getsockname");
  return socket;
}

process::Descriptor connect_to(sockaddr_in at) {
  auto socket = make_socket();
  checked(::connect(socket.get(), as_sockaddr(at), sizeof at), "connect");
  without_delay(socket.get());
  return socket;
}

void without_delay(int socket) {
  const int on = 1;
  checked(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

void do_not_block(int descriptor) {
  const int flags = checked(::fcntl(descriptor, F_GETFL), "fcntl");
  checked(::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK), "fcntl");
}

}  // namespace iwarp::bench::channel
