#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "support/octets.hpp"
#include "verbs/loopback_support.hpp"

/// Sockets that a program hands over after it has used them.
namespace iwarp::verbs::test {

using Bytes = std::vector<std::byte>;

/// A socket as the kernel knows it. Its number may name something else as soon as it is closed,
/// since other threads open descriptors of their own. Looked up by name, not by descriptor: for
/// ThreadSanitizer a use of a descriptor beside its close is a race.
class SocketIdentity {
 public:
  explicit SocketIdentity(const StreamingSocket& socket)
      : link_("/proc/self/fd/" + std::to_string(socket.descriptor())), inode_(inode()) {
    EXPECT_FALSE(inode_.empty());
  }
  bool is_open() const { return inode() == inode_; }

 private:
  std::filesystem::path inode() const {
    std::error_code gone;
    return std::filesystem::read_symlink(link_, gone);
  }

  std::filesystem::path link_, inode_;  // "socket:[12345]"
};

using iwarp::test::octets;

inline void send_all(int socket, const Bytes& bytes) {
  ASSERT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// Exactly `size` octets, or fewer if the stream ends.
inline Bytes receive_all(int socket, std::size_t size) {
  Bytes bytes(size);
  std::size_t have = 0;
  while (have < size) {
    const ssize_t n = ::recv(socket, bytes.data() + have, size - have, 0);
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

/// The two ends of a loopback connection, made by plain system calls.
struct Sockets {
  Sockets() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    Endpoint at(Address::loopback(), 0);
    auto size = static_cast<socklen_t>(at.capacity());
    EXPECT_EQ(::bind(listener, at.data(), static_cast<socklen_t>(at.size())), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, at.data(), &size), 0);
    const int connecting = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(connecting, at.data(), static_cast<socklen_t>(at.size())), 0);
    client = StreamingSocket(connecting);
    server = StreamingSocket(::accept(listener, nullptr, nullptr));
    ::close(listener);
    const timeval patience{30, 0};
    for (const int socket : {client.descriptor(), server.descriptor()}) {
      ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
  }

  StreamingSocket client, server;
};

inline void expect_streaming(int a, int b) {
  send_all(a, octets("there"));
  EXPECT_EQ(receive_all(b, 5), octets("there"));
  send_all(b, octets("back"));
  EXPECT_EQ(receive_all(a, 4), octets("back"));
}

inline ConnectOptions giving_back() {
  ConnectOptions options;
  options.after_rejection = AfterRejection::kGiveBack;
  return options;
}

class AdoptSocket : public testing::Test {
 protected:
  // Runs `respond` with the server's end on a thread of its own while the client adopts.
  template <typename Respond>
  Outcome<ConnectionInfo> adopt_against(Respond respond, const ConnectOptions& options = {}) {
    std::thread responder([&] { respond(sockets_.server); });
    auto outcome = client_qp_.adopt(sockets_.client, options);
    responder.join();
    return outcome;
  }
  // Answers the Request with what `answer` does.
  template <typename Answer>
  auto answering(Answer answer) {
    return [this, answer](StreamingSocket& socket) {
      auto request = server_.device.await_request(socket);
      ASSERT_TRUE(request) << request.error().message;
      answer(*request);
    };
  }

  Side client_, server_;
  QueuePair client_qp_ = client_.make_qp(), server_qp_ = server_.make_qp();
  Sockets sockets_;
};

}  // namespace iwarp::verbs::test
