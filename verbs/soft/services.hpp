#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <system_error>

#include "soft/engine/driven.hpp"
#include "soft/engine/stream_closer.hpp"

namespace iwarp::verbs {
class AsyncEvents;
}  // namespace iwarp::verbs

namespace iwarp::verbs::soft {

class MemoryRegistry;

/// Serves the sockets of connections: an engine; in tests each turn. Thread-safe.
class SocketService {
 public:
  virtual ~SocketService() = default;
  /// Serves a connection's socket from now on, until remove(), for what it waits for already, too.
  /// Errors: the system's, if it refuses to watch the socket.
  [[nodiscard]] virtual std::error_code add(const std::shared_ptr<Driven>& driven) = 0;
  virtual void remove(Driven& driven) = 0;
  /// It waits for room: Driven::transmit() is to be called when the socket takes more.
  virtual void want_write(Driven& driven) = 0;
  /// It reads again, or has to look whether its input has ended.
  virtual void want_read(Driven& driven) = 0;
  /// The calling thread is about to sleep at the socket of `driven` and reads what comes, until it
  /// calls end_loan(). False, and nothing to end, if another thread does, or if all is read here.
  [[nodiscard]] virtual bool lend(Driven& /*driven*/) { return false; }
  virtual void end_loan(Driven& /*driven*/) {}
  /// It waits for what no socket tells of: Driven::look_again() is to be called about every
  /// millisecond.
  virtual void look_again(Driven& driven) = 0;
  /// Closes a stream that its queue pair has left.
  virtual void see_off(ClosingStream closing) = 0;
};

/// Is told what the threads that poll do: an engine leaves sockets to them. Thread-safe.
class PollerService {
 public:
  virtual ~PollerService() = default;
  /// The calling thread polls in vain: it may serve sockets that no other thread serves meanwhile.
  virtual void drive_unpolled() = 0;
  /// A completion queue was armed: no socket behind it may be left to a poller.
  virtual void take_back(const PollSigns& armed) = 0;
  /// The last thread that slept at a completion queue does so no more.
  virtual void sleeper_left() = 0;
};

/// The room that halves of FPDUs take, of all connections together. Thread-safe.
class HalfFpduRoom {
 public:
  virtual ~HalfFpduRoom() = default;
  /// Accounts for so many octets more, or (negative) fewer.
  virtual void account(std::ptrdiff_t octets) = 0;
  /// Whether there is room for more than whole FPDUs leave behind. Connections that are short of it
  /// make room by Driven::give_up_half_fpdu().
  [[nodiscard]] virtual bool has_room() const = 0;
};

/// Tells the time. Thread-safe.
class TimeSource {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~TimeSource() = default;
  [[nodiscard]] virtual Time now() const = 0;
  /// The time as the deadlines of the protocol count it: as RunningClock does.
  virtual Time running() = 0;
};

/// Runs tasks. Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs `task` soon, without any lock held, one after the other in the order of the calls.
  virtual void post(std::function<void()> task) = 0;
};

/// What queue pairs and completion queues work with and do not own. The runtime offers it with
/// threads and sockets, a test with a simulated network and none. A connection belongs to the one
/// engine whose services it was made with.
struct Services {
  std::shared_ptr<MemoryRegistry> memory;
  SocketService& sockets;
  PollerService& pollers;
  HalfFpduRoom& halves;
  TimeSource& time;
  Executor& executor;
  AsyncEvents& events;
  /// A number that no peer can guess. Throws std::system_error if there is none.
  std::function<std::uint32_t()> secret;
  /// Called again and again by a thread that waits for another one to leave a half.
  std::function<void()> pause;
};

}  // namespace iwarp::verbs::soft
