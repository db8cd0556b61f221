#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>

namespace iwarp::test {

/// 127.0.0.1 and a port, for calls of the system; port 0 is any.
inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace iwarp::test
