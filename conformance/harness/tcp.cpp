#include "harness/tcp.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "harness/verdict.hpp"

namespace iwarp::conform {
namespace {

struct Deadline {
  explicit Deadline(milliseconds timeout) : at(Clock::now() + timeout) {}
  int left() const {
    const auto rest = std::chrono::ceil<milliseconds>(at - Clock::now()).count();
    return rest > 0 ? static_cast<int>(rest) : 0;
  }
  Clock::time_point at;
};

// False when the deadline comes first.
bool wait_for(int descriptor, short events, const Deadline& deadline) {
  pollfd poll{descriptor, events, 0};
  for (;;) {
    const int n = ::poll(&poll, 1, deadline.left());
    if (n > 0) return true;
    if (n == 0) return false;
    if (errno != EINTR) return false;
  }
}

struct Resolved {
  explicit Resolved(const Address& address, bool passive = false) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    const std::string port = std::to_string(address.port);
    const char* host = address.host.empty() ? nullptr : address.host.c_str();
    const int status = ::getaddrinfo(host, port.c_str(), &hints, &list);
    if (status != 0) {
      const std::string text = "cannot resolve " + address.host + ": " + ::gai_strerror(status);
      if (passive) throw std::runtime_error(text);
      throw CannotConnect(text);
    }
  }
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;
  ~Resolved() { ::freeaddrinfo(list); }
  addrinfo* list = nullptr;
};

std::string error_text(int error) { return std::strerror(error); }

// 0 or an errno.
int connect_one(int descriptor, const addrinfo& to, milliseconds timeout) {
  if (::connect(descriptor, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(descriptor, POLLOUT, Deadline(timeout))) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

using NameFunction = int (*)(int, sockaddr*, socklen_t*);

void name_of(int descriptor, NameFunction function, std::string& address, std::uint16_t& port) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* const name = reinterpret_cast<sockaddr*>(&storage);
  if (function(descriptor, name, &size) != 0) return;
  std::array<char, INET6_ADDRSTRLEN> host{};
  std::array<char, 8> service{};
  if (::getnameinfo(name, size, host.data(), host.size(), service.data(), service.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return;
  }
  address = host.data();
  port = static_cast<std::uint16_t>(std::atoi(service.data()));
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Address address{.host = std::string(host)};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (host.empty() || error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  return address;
}

std::string to_string(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Tcp Tcp::connect(const Address& to, milliseconds timeout, int max_segment_size) {
  const Resolved resolved(to);
  int error = 0;
  for (const addrinfo* entry = resolved.list; entry != nullptr; entry = entry->ai_next) {
    Tcp tcp(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!tcp.is_open()) {
      error = errno;
      continue;
    }
    if (max_segment_size > 0) {
      ::setsockopt(tcp.descriptor_, IPPROTO_TCP, TCP_MAXSEG, &max_segment_size,
                   sizeof max_segment_size);
    }
    error = connect_one(tcp.descriptor_, *entry, timeout);
    if (error != 0) continue;
    tcp.set_no_delay();
    return tcp;
  }
  throw CannotConnect("cannot connect to " + to_string(to) + ": " + error_text(error));
}

bool Tcp::send(OctetView octets, milliseconds timeout) {
  const Deadline deadline(timeout);
  while (!octets.empty()) {
    const ssize_t n = ::send(descriptor_, octets.data(), octets.size(), MSG_NOSIGNAL);
    if (n > 0) {
      octets = octets.subspan(static_cast<std::size_t>(n));
    } else if (errno == EINTR) {
      continue;
    } else if (errno != EAGAIN || !wait_for(descriptor_, POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

Tcp::Got Tcp::receive(Octets& into, milliseconds timeout) {
  std::array<std::uint8_t, 65536> buffer;
  const Deadline deadline(timeout);
  for (;;) {
    const ssize_t n = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (n > 0) {
      into.insert(into.end(), buffer.begin(), buffer.begin() + n);
      return Got::kOctets;
    }
    if (n == 0) return Got::kFin;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Got::kReset;
    if (!wait_for(descriptor_, POLLIN, deadline)) return Got::kNothing;
  }
}

void Tcp::shut_down_sending() { ::shutdown(descriptor_, SHUT_WR); }

void Tcp::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void Tcp::reset() {
  const linger at_once{1, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void Tcp::set_no_delay() {
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

ConnectionEnds Tcp::ends(bool tester_connected) const {
  ConnectionEnds ends;
  ends.tester_connected = tester_connected;
  name_of(descriptor_, ::getsockname, ends.tester_address, ends.tester_port);
  name_of(descriptor_, ::getpeername, ends.target_address, ends.target_port);
  return ends;
}

TcpListener::TcpListener(const std::string& address) {
  const Resolved resolved({address, 0}, true);
  descriptor_ = ::socket(resolved.list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0 ||
      ::bind(descriptor_, resolved.list->ai_addr, resolved.list->ai_addrlen) != 0 ||
      ::listen(descriptor_, 16) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw std::runtime_error("cannot listen on " + address + ": " + error_text(error));
  }
  std::string ignored;
  name_of(descriptor_, ::getsockname, ignored, port_);
}

TcpListener::~TcpListener() { ::close(descriptor_); }

std::optional<Tcp> TcpListener::accept(milliseconds timeout) {
  const Deadline deadline(timeout);
  for (;;) {
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      Tcp tcp(descriptor);
      tcp.set_no_delay();
      return tcp;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EAGAIN || !wait_for(descriptor_, POLLIN, deadline)) return std::nullopt;
  }
}

}  // namespace iwarp::conform
