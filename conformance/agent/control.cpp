#include "agent/control.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "agent/command.hpp"

namespace iwarp::agent {
namespace {

constexpr int kBacklog = 16;
constexpr std::chrono::seconds kSendPatience{30};

int checked(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void set(const process::Descriptor& socket, int level, int option, int value) {
  checked(::setsockopt(socket.get(), level, option, &value, sizeof value), "setsockopt");
}

// What poll(2) says of one descriptor; a signal counts as nothing.
short ready(const process::Descriptor& socket, short events, std::chrono::milliseconds timeout) {
  pollfd entry{socket.get(), events, 0};
  return ::poll(&entry, 1, static_cast<int>(timeout.count())) > 0 ? entry.revents : short{0};
}

verbs::Endpoint local_of(const process::Descriptor& socket) {
  verbs::Endpoint local;
  auto size = static_cast<socklen_t>(local.capacity());
  checked(::getsockname(socket.get(), local.data(), &size), "getsockname");
  local.resize(size);
  return local;
}

process::Descriptor listening_at(const verbs::Endpoint& at) {
  const std::string what = "cannot listen on " + at.to_string();
  process::Descriptor socket(checked(
      ::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP), what));
  set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  checked(::bind(socket.get(), at.data(), at.size()), what);
  checked(::listen(socket.get(), kBacklog), what);
  return socket;
}

}  // namespace

ControlConnection::ControlConnection(process::Descriptor socket) : socket_(std::move(socket)) {
  set(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
  // A tester whose machine has died is noticed after a minute.
  set(socket_, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket_, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(socket_, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(socket_, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

bool ControlConnection::take_line(std::string& line, Got& got) {
  const std::size_t end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    if (received_.size() > agent_protocol::kLongestLine) {
      received_.clear();
      skipping_ = true;
    }
    searched_ = received_.size();
    return false;
  }
  got = skipping_ || end > agent_protocol::kLongestLine ? Got::kTooLong : Got::kLine;
  line = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  skipping_ = false;
  return true;
}

ControlConnection::Got ControlConnection::next(std::string& line,
                                               std::chrono::milliseconds timeout) {
  Got got = Got::kNothing;
  if (take_line(line, got)) return got;
  if (ready(socket_, POLLIN, timeout) == 0) return Got::kNothing;
  std::array<char, 65536> piece;
  const ssize_t size = ::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? Got::kNothing : Got::kEnd;
  if (size == 0) return Got::kEnd;
  received_.append(piece.data(), static_cast<std::size_t>(size));
  take_line(line, got);
  return got;
}

bool ControlConnection::send(std::string_view line) {
  const std::string whole = std::string(line) + '\n';
  const auto deadline = std::chrono::steady_clock::now() + kSendPatience;
  for (std::string_view rest = whole; !rest.empty();) {
    const ssize_t size =
        ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    } else if (std::chrono::steady_clock::now() > deadline) {
      return false;
    } else {
      ready(socket_, POLLOUT, std::chrono::milliseconds(200));
    }
  }
  return true;
}

bool ControlConnection::gone() const {
  return ready(socket_, POLLRDHUP, std::chrono::milliseconds(0)) != 0;
}

verbs::Address ControlConnection::local_address() const {
  const verbs::Address address = local_of(socket_).address();
  return address.is_v4_mapped() ? address.mapped_v4() : address;
}

ControlListener::ControlListener(const verbs::Endpoint& at) : socket_(listening_at(at)) {}

verbs::Endpoint ControlListener::endpoint() const { return local_of(socket_); }

bool ControlListener::has_next() const {
  return ready(socket_, POLLIN, std::chrono::milliseconds(0)) != 0;
}

std::optional<ControlConnection> ControlListener::next(std::chrono::milliseconds timeout) {
  if (ready(socket_, POLLIN, timeout) == 0) return std::nullopt;
  process::Descriptor socket(
      ::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.get() < 0) return std::nullopt;
  return ControlConnection(std::move(socket));
}

}  // namespace iwarp::agent
