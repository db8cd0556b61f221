#pragma once

#include <atomic>

namespace iwarp::verbs::soft {

/// What is to be done by the halves of a queue pair, or outside of both, and is wanted by a thread
/// that may be inside one: it is done when the thread has left (QpHalves::settle()). Any thread.
struct Wanted {
  std::atomic<bool> transmit{false};    ///< The transmit half is to run.
  std::atomic<bool> flush{false};       ///< Receives are to be flushed, by the receive half.
  std::atomic<bool> conclusion{false};  ///< The program is to be told of the end.

  /// Whether anything is to be done by a half.
  [[nodiscard]] bool of_halves() const { return transmit.load() || flush.load(); }
};

}  // namespace iwarp::verbs::soft
