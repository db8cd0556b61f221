#include "kernel/socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <climits>
#include <string_view>

namespace iwarp::tcp_offload::kernel {
namespace {

using boost::asio::ip::tcp;

// Octets that a socket takes before TCP can send them. The system's own limit is megabytes, which
// a thousand peers that do not read would have it hold. With half of this BBR is a tenth slower on
// loopback: what may wait should be as much as one gathering write holds.
constexpr int kMostUnsent = 1024 * 1024;

template <typename T>
bool set_option(int socket, int level, int name, const T& value) {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

Result<int, std::error_code> int_option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket, level, name, &value, &size) != 0) return failure(last_error());
  return value;
}

bool set_buffers(int socket, const KernelOptions& options) {
  return (options.send_buffer == 0 ||
          set_option(socket, SOL_SOCKET, SO_SNDBUF, options.send_buffer)) &&
         (options.receive_buffer == 0 ||
          set_option(socket, SOL_SOCKET, SO_RCVBUF, options.receive_buffer));
}

std::error_code bind_socket(int socket, const Endpoint& at) {
  if (::bind(socket, at.data(), static_cast<socklen_t>(at.size())) != 0) return last_error();
  return {};
}

int within_int(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, INT_MAX));
}

template <typename Call>
Result<Endpoint, std::error_code> endpoint_by(int socket, Call call) {
  Endpoint endpoint;
  socklen_t size = static_cast<socklen_t>(endpoint.capacity());
  if (call(socket, endpoint.data(), &size) != 0) return failure(last_error());
  endpoint.resize(size);
  return endpoint;
}

}  // namespace

process::ClosedInChildren Socket::hand_over() {
  if (!in_children_) in_children_ = process::ClosedInChildren(get());
  static_cast<void>(descriptor_.release());
  return std::move(in_children_);
}

std::error_code last_error() { return {errno, std::system_category()}; }

std::error_code from_asio(const boost::system::error_code& error) {
  if (!error) return {};
  if (error == boost::asio::error::eof) return Error::kEndOfStream;
  if (error.category() == boost::system::system_category()) {
    return {error.value(), std::system_category()};
  }
  return {EIO, std::system_category()};
}

// The system would take a longer name for its beginning, and one for what stands before its zero.
std::error_code confine_to_interface(int socket, const std::string& interface) {
  if (interface.size() >= IFNAMSIZ || interface.find('\0') != std::string::npos) {
    return {ENODEV, std::system_category()};
  }
  const int done = ::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                                static_cast<socklen_t>(interface.size() + 1));
  return done == 0 ? std::error_code() : last_error();
}

Result<Socket, std::error_code> open_socket(const tcp& protocol, const KernelOptions& options) {
  Socket socket(
      ::socket(protocol.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol.protocol()));
  if (!socket) return failure(last_error());
  if (!set_buffers(socket.get(), options)) return failure(last_error());
  if (!options.interface.empty()) {
    if (const auto error = confine_to_interface(socket.get(), options.interface)) {
      return failure(error);
    }
  }
  // What an old system does not know is not missed. Accepted sockets have it of their listener.
  set_option(socket.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, kMostUnsent);
  return socket;
}

Result<Socket, std::error_code> open_listener(const Endpoint& at, const ListenTerms& terms,
                                              const KernelOptions& options) {
  auto socket = open_socket(at.protocol(), options);
  if (!socket) return socket;
  if (!set_option(socket->get(), SOL_SOCKET, SO_REUSEADDR, 1)) return failure(last_error());
  if (terms.v6_only && at.protocol() == tcp::v6() &&
      !set_option(socket->get(), IPPROTO_IPV6, IPV6_V6ONLY, *terms.v6_only ? 1 : 0)) {
    return failure(last_error());
  }
  if (const auto error = set_traffic_class(socket->get(), at.protocol(), terms.traffic_class)) {
    return failure(error);
  }
  if (const auto error = bind_socket(socket->get(), at)) return failure(error);
  if (::listen(socket->get(), terms.backlog) != 0) return failure(last_error());
  return socket;
}

std::error_code set_traffic_class(int socket, const tcp& protocol,
                                  std::optional<std::uint8_t> traffic_class) {
  if (!traffic_class) return {};
  const int value = *traffic_class;
  if (protocol == tcp::v6() && !set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, value)) {
    return last_error();
  }
  return set_option(socket, IPPROTO_IP, IP_TOS, value) ? std::error_code() : last_error();
}

std::error_code bind_before_connect(int socket, const Endpoint& from) {
  if (from.address().is_unspecified() && from.port() == 0) return {};
  if (from.port() == 0) {
    set_option(socket, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1);  // only makes ports last longer
  } else if (!set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1)) {
    return last_error();
  }
  return bind_socket(socket, from);
}

Result<Socket, std::error_code> accept_socket(int listener) {
  process::Descriptor accepted(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted) return failure(last_error());
  process::ClosedInChildren in_children(accepted.get());  // which may find no memory
  return Socket(accepted.release(), std::move(in_children));
}

Result<Ends, std::error_code> connected_ends(int socket) {
  const auto protocol = int_option(socket, SOL_SOCKET, SO_PROTOCOL);
  if (!protocol) return failure(protocol.error());
  if (*protocol != IPPROTO_TCP) return failure(std::error_code(EPROTOTYPE, std::system_category()));
  const auto remote = endpoint_by(socket, ::getpeername);
  if (!remote) return failure(remote.error());
  const auto local = bound_endpoint(socket);
  if (!local) return failure(local.error());
  return Ends{*local, *remote};
}

namespace {

SocketModes connected_modes(const SocketModes& before) {
  return {before.status_flags | O_NONBLOCK, before.descriptor_flags | FD_CLOEXEC, 1};
}

// Most sockets have most of them already.
std::error_code change_modes(int socket, const SocketModes& from, const SocketModes& to) {
  if (to.status_flags != from.status_flags && ::fcntl(socket, F_SETFL, to.status_flags) != 0) {
    return last_error();
  }
  if (to.descriptor_flags != from.descriptor_flags &&
      ::fcntl(socket, F_SETFD, to.descriptor_flags) != 0) {
    return last_error();
  }
  if (to.no_delay != from.no_delay && !set_option(socket, IPPROTO_TCP, TCP_NODELAY, to.no_delay)) {
    return last_error();
  }
  return {};
}

}  // namespace

Result<SocketModes, std::error_code> prepare_connected(int socket) {
  SocketModes before;
  before.status_flags = ::fcntl(socket, F_GETFL);
  if (before.status_flags < 0) return failure(last_error());
  before.descriptor_flags = ::fcntl(socket, F_GETFD);
  if (before.descriptor_flags < 0) return failure(last_error());
  const auto no_delay = int_option(socket, IPPROTO_TCP, TCP_NODELAY);
  if (!no_delay) return failure(no_delay.error());
  before.no_delay = *no_delay;
  if (const auto error = change_modes(socket, before, connected_modes(before))) {
    restore_modes(socket, before);
    return failure(error);
  }
  return before;
}

void restore_modes(int socket, const SocketModes& before) {
  change_modes(socket, connected_modes(before), before);
}

Result<Endpoint, std::error_code> bound_endpoint(int socket) {
  return endpoint_by(socket, ::getsockname);
}

std::size_t effective_mss(int socket) {
  // On an established connection TCP_MAXSEG reads the sender's current segment size, with path MTU
  // and options such as time stamps taken into account: the same figure as tcpi_snd_mss, at the
  // price of a smaller call.
  const auto mss = int_option(socket, IPPROTO_TCP, TCP_MAXSEG);
  return mss && *mss > 0 ? static_cast<std::size_t>(*mss) : 0;
}

// Only the algorithm's name tells: BBR and its versions.
bool is_paced(int socket) {
  std::array<char, 16> name{};
  socklen_t size = name.size();
  const bool told = ::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0;
  return told && std::string_view(name.data(), name.size()).starts_with("bbr");
}

bool is_closed(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state == TCP_CLOSE;
}

std::uint64_t unacknowledged(int socket) {
  int octets = 0;
  return ::ioctl(socket, SIOCOUTQ, &octets) == 0 && octets > 0 ? static_cast<std::uint64_t>(octets)
                                                               : 0;
}

void watch_peer(int socket, const PeerWatch& watch) {
  // While the window is closed this counts from the first probe on, though the peer answers each.
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, within_int(watch.unacknowledged.count()));
  const bool asks = watch.keep_alive.count() > 0;
  if (asks) {
    constexpr std::int64_t kProbes = 4;
    constexpr std::int64_t kLongestPause = 32767;  // the system's limit, in seconds
    const std::int64_t idle = std::min<std::int64_t>(watch.keep_alive.count(), kLongestPause);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, within_int(idle));
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL,
               within_int(std::max<std::int64_t>(idle / kProbes, 1)));
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, within_int(kProbes));
  }
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, asks ? 1 : 0);
}

void reset_connection(int socket) {
  set_option(socket, SOL_SOCKET, SO_LINGER, linger{.l_onoff = 1, .l_linger = 0});
  const sockaddr none{.sa_family = AF_UNSPEC, .sa_data = {}};
  // Dissolves the association, which sends the reset. Should it fail, closing does it. Called as a
  // bare system call, because ThreadSanitizer takes connect() for the creation of a descriptor.
  static_cast<void>(::syscall(SYS_connect, socket, &none, sizeof none));
}

}  // namespace iwarp::tcp_offload::kernel
