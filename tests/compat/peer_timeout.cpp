// For how long the sockets of a program of the C interface wait for a peer that acknowledges
// nothing: the first argument, in milliseconds, and the second, in seconds, for one that says
// nothing. The environment is read once per process.
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdio>
#include <filesystem>

#include "compat/pair.hpp"

namespace {

using namespace iwarp::compat_test;

int option(int descriptor, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1;
}

bool is_connection(int descriptor) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  return option(descriptor, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP &&
         ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int unacknowledged = std::atoi(argv[1]);
  const int keep_alive = std::atoi(argv[2]);
  Pair pair;
  pair.expect_alive();
  int connections = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    if (!is_connection(descriptor)) continue;
    ++connections;
    const int timeout = option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT);
    const bool asks = option(descriptor, SOL_SOCKET, SO_KEEPALIVE) != 0;
    const int after = asks ? option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE) : 0;
    if (timeout == unacknowledged && after == keep_alive) continue;
    std::printf("TCP_USER_TIMEOUT is %d, and probes come after %d s\n", timeout, after);
    return 1;
  }
  return connections == 2 ? 0 : 3;
}
