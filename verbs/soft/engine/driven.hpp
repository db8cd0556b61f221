#pragma once

#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include "soft/engine/poll_signs.hpp"

namespace iwarp::verbs::soft {

/// What a connection waits for at this moment.
struct Waits {
  bool input = false;  ///< What comes in at its socket.
  bool room = false;   ///< The socket took less than it was offered: that it takes more.
  /// What no socket tells of: a receive, the peer's acknowledgement, or memory of the system.
  bool looks = false;
  bool input_ended = false;  ///< Nothing comes in any more.
};

/// An FPDU of which a part has come.
struct HalfFpdu {
  std::chrono::steady_clock::time_point since;  ///< Its first octet, in running time.
  std::size_t octets = 0;                       ///< What is kept of it.
  boost::asio::ip::address peer;
};

/// A connection, as the threads see it that serve its socket: the engine's, and those that poll its
/// completion queues. Every member may be called from any thread.
class Driven {
 public:
  virtual ~Driven() = default;

  /// Its socket; -1 without one.
  [[nodiscard]] virtual int descriptor() const = 0;
  [[nodiscard]] virtual Waits waits() const = 0;
  /// Whose completion queues those are.
  [[nodiscard]] virtual Pollers pollers() const = 0;
  /// Whether a thread is inside it.
  [[nodiscard]] virtual bool busy() const = 0;

  /// A poller's turn: sends what was left for it, receives what is there.
  virtual void drive() = 0;
  /// The sending part of a poller's turn.
  virtual void flush() = 0;
  /// The engine's turn to receive; a bounded amount. False if there may be more.
  virtual bool receive() = 0;
  /// Sends what may be sent.
  virtual void transmit() = 0;
  /// Looks whether that has come which no socket tells of. One thread at a time.
  virtual void look_again() = 0;
  /// The system refuses to say when its socket is ready: the connection is lost.
  virtual void cannot_be_watched(const std::error_code& why) = 0;

  /// Looks at the time-outs. True while one is running.
  virtual bool check_deadlines() = 0;
  [[nodiscard]] virtual std::optional<HalfFpdu> half_fpdu() const = 0;
  /// Others need the room that it takes: the connection is lost, unless the rest has come.
  virtual void give_up_half_fpdu(std::chrono::steady_clock::time_point since) = 0;

  /// As QueuePair::close().
  virtual void close() = 0;
  /// Whether the peer's TCP has acknowledged everything that will be sent.
  [[nodiscard]] virtual bool delivered() const = 0;
  /// Whether the connection has ended.
  [[nodiscard]] virtual bool over() const = 0;

  /// Whether the socket is left to a thread that polls for this connection; the engine says so.
  void set_leased(bool leased) { leased_.store(leased); }
  [[nodiscard]] bool leased() const { return leased_.load(); }

 private:
  std::atomic<bool> leased_{false};
};

/// What a set of sockets says of the one that woke the program instead of a socket: connections use
/// their own address, which is never this, and always even.
inline constexpr std::uint64_t kWakeToken = 0;

/// What a set of sockets says of the socket of `driven`.
inline std::uint64_t token_of(const Driven& driven) {
  return reinterpret_cast<std::uintptr_t>(&driven);
}

}  // namespace iwarp::verbs::soft
