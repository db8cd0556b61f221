#pragma once

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <optional>

namespace iwarp::compat {

using Endpoint = boost::asio::ip::tcp::endpoint;

/// An IPv4 or IPv6 address; none for other families.
std::optional<Endpoint> endpoint_of(const sockaddr* from);
void store(sockaddr_storage& to, const Endpoint& from);
socklen_t size_of(const sockaddr* address);

/// The local address from which the system would send to `to`. 0, or an errno.
int source_for(const Endpoint& to, boost::asio::ip::address& source);

/// A port that is kept for a later listen or connect, as binding does: nobody else gets it, nobody
/// reaches it.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~Reservation() { release(); }

  /// Reserves; a port of 0 in `at` becomes the one that was chosen. 0, or an errno.
  int reserve(Endpoint& at);
  void release();

 private:
  int socket_ = -1;
};

}  // namespace iwarp::compat
