#pragma once

#include "socket.hpp"

namespace iwarp::rsocket {

/// The rsockets of this process, by number. Thread-safe. What was inherited by fork is not there.
/// When the process exits, connections end in order.
class Table {
 public:
  static Table& instance();

  /// Returns the socket's number.
  int add(Socket::Handle socket);
  /// Null if `number` is no rsocket.
  [[nodiscard]] Socket::Handle find(int number);
  Socket::Handle remove(int number);

 private:
  Table();
  void finish_all();

  struct Shared;
  Shared* shared_;
};

}  // namespace iwarp::rsocket
