#pragma once

#include <optional>

#include "cm/address.hpp"
#include "iwarp/process/forks.hpp"

namespace iwarp::compat {

/// How a port is kept.
struct ReservationTerms {
  bool shared = false;          ///< Another that says so, too, may have the port (SO_REUSEADDR).
  std::optional<bool> v6_only;  ///< Whether :: leaves IPv4 to others; none: as the system has it.
};

/// The port of an id, from its binding to its end: no other id of the process gets it. Until a
/// socket listens or connects there, no other program does either, and no peer reaches it.
/// Connections that a listener there has accepted may live on.
class Reservation {
 public:
  Reservation() = default;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { release(); }

  /// Reserves, in place of what was reserved before; a port of 0 in `at` becomes the one that was
  /// chosen. 0, or an errno, with nothing reserved: as cma_check_port() says them, EADDRNOTAVAIL
  /// where a wildcard or loopback address is concerned, EADDRINUSE otherwise.
  int reserve(Endpoint& at, const ReservationTerms& terms);
  [[nodiscard]] bool holds() const { return terms_.has_value(); }
  /// The same port on other terms. 0, or an errno: then it is kept on the old ones.
  int change(const ReservationTerms& terms);
  /// Lets the socket that is to listen or connect have the port beside it; or no longer.
  void make_room() const;
  void take_room_back() const;
  /// That socket has the port now, or nothing needs it.
  void hand_over();
  void release();

 private:
  int keep(Endpoint& at, const ReservationTerms& terms);

  int socket_ = -1;
  process::ClosedInChildren in_children_;  ///< A child may want the port that its parent gave up.
  Endpoint at_;
  std::optional<ReservationTerms> terms_;
};

}  // namespace iwarp::compat
