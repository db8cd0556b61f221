#include "perf/raw/raw_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

#include "context.hpp"

namespace iwarp::cli::perf {
namespace {

constexpr int kPollSlice = 200;  // milliseconds between looks at the clock and at signals
constexpr std::chrono::seconds kTokenPatience{1};

[[noreturn]] void fail(const char* what, int error) {
  throw CommandError(fmt::format("raw TCP: {}: {}", what, std::generic_category().message(error)));
}

int checked(int result, const char* what) {
  if (result < 0) fail(what, errno);
  return result;
}

bool is_transient(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

process::Descriptor make_socket(int family) {
  return process::Descriptor(
      checked(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP), "socket"));
}

/// Waits until `events` or a slice of time is over.
bool ready(const process::Descriptor& socket, short events) {
  pollfd entry{socket.get(), events, 0};
  return ::poll(&entry, 1, kPollSlice) > 0;
}

}  // namespace

RawStream::RawStream(process::Descriptor socket, Waiting waiting, std::chrono::nanoseconds patience)
    : socket_(std::move(socket)), waiting_(waiting), patience_(patience) {
  const int on = 1;
  checked(::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

std::size_t RawStream::receive_some(MutableBytes into) {
  while (true) {
    if (waiting_ == Waiting::kEvents) wait_for(POLLIN);
    const ssize_t n = ::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT);
    if (n > 0) {
      patience_.progress();
      return static_cast<std::size_t>(n);
    }
    if (n == 0) throw CommandError("raw TCP: the peer closed the connection");
    if (!is_transient(errno)) fail("receive", errno);
    if (waiting_ == Waiting::kPolling) patience_.idle();
  }
}

void RawStream::receive_all(MutableBytes into) {
  while (!into.empty()) into = into.subspan(receive_some(into));
}

void RawStream::send_all(ConstBytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      patience_.progress();
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else {
      if (!is_transient(errno)) fail("send", errno);
      idle(POLLOUT);
    }
  }
}

void RawStream::wait_for(short events) {
  while (!ready(socket_, events)) patience_.check();
}

void RawStream::idle(short events) {
  if (waiting_ == Waiting::kEvents) {
    wait_for(events);
  } else {
    patience_.idle();
  }
}

RawStream connect_raw(const verbs::Endpoint& to, std::uint64_t token, Waiting waiting,
                      std::chrono::nanoseconds patience) {
  process::Descriptor socket = make_socket(to.family());
  if (::connect(socket.get(), to.data(), to.size()) != 0) {
    if (errno != EINPROGRESS) fail("connect", errno);
    for (Patience left(patience); !ready(socket, POLLOUT);) left.check();
    int error = 0;
    socklen_t length = sizeof error;
    checked(::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length), "SO_ERROR");
    if (error != 0) fail("connect", error);
  }
  RawStream stream(std::move(socket), waiting, patience);
  std::array<std::byte, sizeof token> bytes{};
  store_be(bytes.data(), token);
  stream.send_all(bytes);
  return stream;
}

RawListener::RawListener(const verbs::Address& at)
    : socket_(make_socket(at.is_v6() ? AF_INET6 : AF_INET)) {
  verbs::Endpoint endpoint(at, 0);
  checked(::bind(socket_.get(), endpoint.data(), endpoint.size()), "bind");
  checked(::listen(socket_.get(), 4), "listen");
  auto length = static_cast<socklen_t>(endpoint.capacity());
  checked(::getsockname(socket_.get(), endpoint.data(), &length), "getsockname");
  port_ = endpoint.port();
}

RawStream RawListener::accept(std::uint64_t token, Waiting waiting,
                              std::chrono::nanoseconds patience) {
  Patience left(patience);
  while (true) {
    if (!ready(socket_, POLLIN)) {
      left.check();
      continue;
    }
    process::Descriptor socket(
        ::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) continue;
    RawStream stream(std::move(socket), Waiting::kEvents, kTokenPatience);
    try {
      std::array<std::byte, sizeof token> bytes{};
      stream.receive_all(bytes);
      if (load_be<std::uint64_t>(bytes.data()) == token) {
        return std::move(stream).with(waiting, patience);
      }
    } catch (const CommandError&) {
      continue;  // not our client
    }
  }
}

}  // namespace iwarp::cli::perf
