#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "iwarp/process/descriptor.hpp"

namespace iwarp::bench {

/// How a thread waits at its socket.
enum class Wait : std::uint8_t {
  kBlock,  ///< In send(2) and recv(2).
  kSpin,   ///< It repeats them without pause.
  kEpoll,  ///< In epoll_wait(2), as soon as a call has moved less than it was asked to.
};

/// A connected TCP socket without Nagle's delay, as a program uses it that knows TCP. Every error
/// throws std::system_error.
class Stream {
 public:
  Stream(process::Descriptor socket, Wait wait);

  /// Sends all of it.
  void send(std::span<const std::byte> octets);
  /// What there is, at least one octet; 0 at the end of the stream.
  std::size_t receive(std::span<std::byte> into);
  /// Receives all of it; false at the end of the stream.
  bool receive_all(std::span<std::byte> into);
  /// No more will be sent.
  void finish();
  /// From now on waits so.
  void wait_by(Wait wait);
  /// The payload of a full segment.
  [[nodiscard]] std::size_t segment() const;

 private:
  void wait_for(std::uint32_t events);

  process::Descriptor socket_;
  process::Descriptor epoll_;
  Wait wait_ = Wait::kBlock;
  bool drained_ = false;  // the last call has not found as much as there was room for
};

}  // namespace iwarp::bench
