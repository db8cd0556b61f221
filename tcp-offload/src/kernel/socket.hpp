#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "iwarp/base/result.hpp"
#include "iwarp/process/descriptor.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/tcp_offload/kernel_device.hpp"
#include "iwarp/tcp_offload/stream.hpp"

/// System calls on sockets that Asio does not make, or not the way this device needs them.
namespace iwarp::tcp_offload::kernel {

/// Owns a socket. Forked children have none of it: a connection ends, and a port is free, when this
/// process says so, whatever its children live on.
class Socket {
 public:
  Socket() = default;  ///< None.
  explicit Socket(int fd) : Socket(fd, process::ClosedInChildren(fd)) {}
  /// Takes back what hand_over() gave.
  Socket(int fd, process::ClosedInChildren in_children)
      : descriptor_(fd), in_children_(std::move(in_children)) {}
  /// A program's socket, which children keep until hand_over().
  static Socket of_program(int fd) { return {fd, process::ClosedInChildren()}; }

  [[nodiscard]] int get() const { return descriptor_.get(); }
  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  /// Leaves the descriptor to the caller. The result goes before the descriptor is closed.
  [[nodiscard]] process::ClosedInChildren hand_over();
  /// Leaves the descriptor to its program.
  void give_back() { static_cast<void>(descriptor_.release()); }

 private:
  process::Descriptor descriptor_;
  process::ClosedInChildren in_children_;  // goes first
};

/// `errno` as an error code.
std::error_code last_error();

/// What Asio reports, in the terms of error.hpp.
std::error_code from_asio(const boost::system::error_code& error);

/// Lets a socket that is not bound send and receive by that network interface alone. ENODEV if none
/// has that name; EPERM as try_interface() has it.
std::error_code confine_to_interface(int socket, const std::string& interface);

/// A non-blocking close-on-exec TCP socket with the options set that precede connect or listen.
Result<Socket, std::error_code> open_socket(const boost::asio::ip::tcp& protocol,
                                            const KernelOptions& options);

/// Binds and listens; SO_REUSEADDR is set.
Result<Socket, std::error_code> open_listener(const Endpoint& at, const ListenTerms& terms,
                                              const KernelOptions& options);

/// Binds a socket that is going to connect. With port 0 the port is chosen at connect, where more
/// of them are free.
std::error_code bind_before_connect(int socket, const Endpoint& from);

/// For all that is sent. A socket of IPv6 may speak IPv4.
std::error_code set_traffic_class(int socket, const boost::asio::ip::tcp& protocol,
                                  std::optional<std::uint8_t> traffic_class);

/// Accepts one connection as a non-blocking close-on-exec socket.
Result<Socket, std::error_code> accept_socket(int listener);

/// The two ends of a connection.
struct Ends {
  Endpoint local, remote;
};

/// The ends of a connected TCP socket; an error if it is anything else.
Result<Ends, std::error_code> connected_ends(int socket);

/// Those modes of a socket that the device sets.
struct SocketModes {
  int status_flags = 0;      ///< F_GETFL: blocking or not.
  int descriptor_flags = 0;  ///< F_GETFD: closed on exec or not.
  int no_delay = 0;          ///< TCP_NODELAY.
};

/// Sets what every connected socket has: no delay, non-blocking, close-on-exec. Returns what it had
/// before; after an error it has that still.
Result<SocketModes, std::error_code> prepare_connected(int socket);

/// Undoes prepare_connected(), which returned `before`.
void restore_modes(int socket, const SocketModes& before);

/// Where a socket is bound.
Result<Endpoint, std::error_code> bound_endpoint(int socket);

/// The payload of a full TCP segment now, options taken off; 0 if it cannot be told.
std::size_t effective_mss(int socket);

/// Whether the congestion control spreads what is sent over time, by sending when a timer says so.
bool is_paced(int socket);

/// Whether the connection has left every state in which it could carry data or FIN. One of which
/// the system does not tell has not.
bool is_closed(int socket);
/// Octets sent, and FIN as one more, that the peer's TCP has not acknowledged.
std::uint64_t unacknowledged(int socket);

/// Sets TCP_USER_TIMEOUT and the options of keep-alive probes.
void watch_peer(int socket, const PeerWatch& watch);

/// Resets the connection but leaves the descriptor open, so that another thread may still be in a
/// call on it.
void reset_connection(int socket);

}  // namespace iwarp::tcp_offload::kernel
