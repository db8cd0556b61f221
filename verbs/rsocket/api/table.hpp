#pragma once

#include <shared_mutex>
#include <vector>

#include "socket.hpp"

namespace iwarp::rsocket {

/// The rsockets of this process, by number. Thread-safe. What was inherited by fork is not there.
/// When the process exits, connections end in order.
class Table {
 public:
  Table();
  static Table& instance();

  /// Returns the socket's number.
  int add(Socket::Handle socket);
  /// Null if `number` is no rsocket.
  [[nodiscard]] Socket::Handle find(int number);
  Socket::Handle remove(int number);

 private:
  void finish_all();

  std::shared_mutex mutex_;
  std::vector<Socket::Handle> sockets_;
};

}  // namespace iwarp::rsocket
