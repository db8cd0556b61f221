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

/// Whether ids of this port space are for datagrams. iWARP has none: such an id exists, finds its
/// device, and gets neither a queue pair nor a peer.
bool is_for_datagrams(int port_space);

/// How a port is kept.
struct ReservationTerms {
  bool shared = false;          ///< Another that says so, too, may have the port (SO_REUSEADDR).
  std::optional<bool> v6_only;  ///< Whether :: leaves IPv4 to others; none: as the system has it.
};

/// A port that is kept for a later listen or connect, as binding does: no other program gets it, no
/// peer reaches it. Connections that a listener there has accepted may live on.
class Reservation {
 public:
  Reservation() = default;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { release(); }

  /// Reserves; a port of 0 in `at` becomes the one that was chosen. 0, or an errno.
  int reserve(Endpoint& at, const ReservationTerms& terms);
  [[nodiscard]] bool holds() const { return socket_ >= 0; }
  /// Lets the socket that is to listen or connect have the port beside it.
  void share() const;
  void release();

 private:
  int socket_ = -1;
  Endpoint at_;
};

}  // namespace iwarp::compat
