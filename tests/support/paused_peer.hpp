#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace iwarp::test {

/// A peer that answers an MPA Request of revision 1 and then reads nothing until it is told to:
/// what is sent to it stays in the buffers of both TCPs. One thread at a time.
class PausedPeer {
 public:
  PausedPeer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int small = 16384;  // octets; most of what is sent waits at the sender
    ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
  }
  PausedPeer(const PausedPeer&) = delete;
  PausedPeer& operator=(const PausedPeer&) = delete;
  ~PausedPeer() {
    ::close(listener_);
    if (socket_ >= 0) ::close(socket_);
  }

  /// Where it listens, at 127.0.0.1.
  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Takes one connection and answers its Request: CRC, no Markers (RFC 5044 §7.1.1); of revision 2
  /// with what it asks for, and a Write as the RTR indication (RFC 6581 §9).
  void accept() {
    constexpr std::size_t kFrame = 20;
    socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    ASSERT_GE(socket_, 0);
    std::array<unsigned char, 1024> request{};
    ASSERT_TRUE(read_exactly(request.data(), kFrame));
    const std::size_t data = static_cast<std::size_t>(request[18]) << 8U | request[19];
    ASSERT_TRUE(read_exactly(request.data() + kFrame, data));
    std::array<unsigned char, kFrame + 4> reply{};
    constexpr std::string_view kKey = "MPA ID Rep Frame";
    std::memcpy(reply.data(), kKey.data(), kKey.size());
    const bool enhanced = (request[16] & 0x10U) != 0;
    reply[16] = enhanced ? 0x50 : 0x40;  // C, and S
    reply[17] = request[17];
    reply[19] = enhanced ? 4 : 0;
    // The peer's ORD becomes our IRD, and the other way round; A stays, and C of the RTR's kinds.
    reply[20] = static_cast<unsigned char>((request[20] & 0x80U) | (request[22] & 0x3FU));
    reply[21] = request[23];
    reply[22] = static_cast<unsigned char>(0x80U | (request[20] & 0x3FU));
    reply[23] = request[21];
    send({reply.data(), enhanced ? reply.size() : kFrame});
  }

  /// Sends octets of the stream in RDMA mode.
  void send(std::span<const unsigned char> octets) {
    EXPECT_EQ(::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL), std::ssize(octets));
  }

  /// How the connection ended for it.
  struct Got {
    std::size_t octets = 0;
    int error = 0;  ///< 0: FIN.
  };
  /// Reads all there is, and ends its half behind the peer's.
  Got read_to_end() {
    Got got;
    std::vector<unsigned char> room(65536);
    for (;;) {
      const ssize_t n = ::recv(socket_, room.data(), room.size(), 0);
      if (n < 0) got.error = errno;
      if (n <= 0) break;
      got.octets += static_cast<std::size_t>(n);
    }
    ::shutdown(socket_, SHUT_WR);
    return got;
  }

 private:
  bool read_exactly(unsigned char* into, std::size_t size) {
    return size == 0 || ::recv(socket_, into, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

  int listener_;
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace iwarp::test
