#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <rdma/rsocket.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "support/loopback_address.hpp"

namespace iwarp::rsocket_test {

using iwarp::test::loopback;

inline const sockaddr* plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// An rsocket that is closed at the end.
class Owned {
 public:
  Owned() = default;
  explicit Owned(int number) : number_(number) {}
  ~Owned() { close(); }
  Owned(Owned&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Owned& operator=(Owned&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }

  operator int() const { return number_; }  // NOLINT: as a number it is used
  int close() { return number_ < 0 ? 0 : rclose(std::exchange(number_, -1)); }

 private:
  int number_ = -1;
};

/// A listener on a loopback port of the system's choice.
class Listener {
 public:
  explicit Listener(int backlog = 16) : socket_(rsocket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in any = loopback(0);
    EXPECT_GE(socket_, 0) << strerror(errno);
    EXPECT_EQ(rbind(socket_, plain(any), sizeof any), 0) << strerror(errno);
    EXPECT_EQ(rlisten(socket_, backlog), 0) << strerror(errno);
  }

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] sockaddr_in address() const {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    EXPECT_EQ(rgetsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    return address;
  }
  [[nodiscard]] Owned connect() const {
    Owned client(rsocket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in to = address();
    EXPECT_EQ(rconnect(client, plain(to), sizeof to), 0) << strerror(errno);
    return client;
  }
  [[nodiscard]] Owned accept() const {
    Owned accepted(raccept(socket_, nullptr, nullptr));
    EXPECT_GE(accepted, 0) << strerror(errno);
    return accepted;
  }

 private:
  Owned socket_;
};

/// Two connected rsockets.
struct Pair {
  explicit Pair(const Listener& listener = Listener())
      : client(listener.connect()), server(listener.accept()) {}
  Owned client, server;
};

/// Octets that differ from their neighbours and those a ring further on.
inline std::vector<char> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<char> octets(size);
  unsigned state = seed;
  for (char& each : octets) {
    state = state * 1664525U + 1013904223U;
    each = static_cast<char>(state >> 24U);
  }
  return octets;
}

inline void send_all(int socket, const std::vector<char>& octets) {
  ASSERT_EQ(rsend(socket, octets.data(), octets.size(), 0), static_cast<ssize_t>(octets.size()))
      << strerror(errno);
}

/// `size` octets, or those up to the end.
inline std::vector<char> receive(int socket, std::size_t size) {
  std::vector<char> octets(size);
  const ssize_t received = rrecv(socket, octets.data(), size, MSG_WAITALL);
  EXPECT_GE(received, 0) << strerror(errno);
  octets.resize(received < 0 ? 0 : static_cast<std::size_t>(received));
  return octets;
}

inline int error_of(ssize_t result) { return result < 0 ? errno : 0; }

}  // namespace iwarp::rsocket_test
