#pragma once

#include <netinet/in.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "iwarp/process/descriptor.hpp"

namespace iwarp::bench::channel {

/// Connections that may wait for this end.
inline constexpr int kBacklog = 1024;

/// What a call has returned; throws std::system_error if it has failed.
template <typename Value>
Value checked(Value result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

sockaddr_in endpoint(const std::string& address, std::uint16_t port);
inline sockaddr* as_sockaddr(sockaddr_in& at) { return reinterpret_cast<sockaddr*>(&at); }

/// Listens there, and puts the port into `at`.
process::Descriptor listen_at(sockaddr_in& at);
/// Connected, without Nagle's delay.
process::Descriptor connect_to(sockaddr_in at);
void without_delay(int socket);
void do_not_block(int descriptor);

}  // namespace iwarp::bench::channel
