#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "iwarp/process/descriptor.hpp"
#include "socket.hpp"

namespace iwarp::rsocket {

/// One thread per process that answers requests for connections, so that a peer can connect before
/// the program calls raccept, as with TCP. It starts with the first listener. Thread-safe.
class AcceptService {
 public:
  static AcceptService& instance();

  /// Drives a listener. Returns 0 or an errno.
  int add(const Socket::Handle& socket);
  void remove(const Socket& socket);
  /// Goes on with a listener whose queue was full.
  void resume(const Socket& socket);

 private:
  int start();
  void run();
  void serve(int fd);
  void pause(Socket& socket);
  void watch(int operation, int fd, bool wanted) const;

  std::mutex mutex_;
  process::Descriptor events_;
  std::map<int, Socket::Handle> sockets_;  // by the descriptor of their channel
};

}  // namespace iwarp::rsocket
