#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>

#include "iwarp/ddp/stag_table.hpp"
#include "iwarp/verbs/types.hpp"
#include "soft/stream_closer.hpp"

namespace iwarp::verbs::soft {

class MemoryRegistry;
class SoftCq;
class SoftQp;

/// What a queue pair needs around it: what waits for its socket, where its news goes. The runtime
/// does this with threads, a test with a simulated network and none.
class Host {
 public:
  virtual ~Host() = default;

  virtual ddp::StagTable& stags() = 0;
  virtual MemoryRegistry& memory() = 0;
  virtual std::chrono::steady_clock::time_point now() const = 0;
  /// The time as the deadlines of the protocol count it: as RunningClock does.
  virtual std::chrono::steady_clock::time_point running() = 0;
  /// A number that no peer can guess. Throws std::system_error if there is none.
  virtual std::uint32_t secret() = 0;
  /// Runs `task` soon, without any lock held, one after the other in the order of the calls.
  virtual void post(std::function<void()> task) = 0;
  virtual void report(AsyncEvent event) = 0;

  /// Serves the queue pair's socket from now on, until remove(). Errors: the system's, if it
  /// refuses to watch the socket.
  [[nodiscard]] virtual std::error_code add(SoftQp& qp) = 0;
  virtual void remove(SoftQp& qp) = 0;
  /// The socket took less than it was offered: call SoftQp::transmit() when it takes more.
  virtual void want_write(SoftQp& qp) = 0;
  /// What the queue pair waits for will not show at its socket: call SoftQp::look_again() about
  /// every millisecond while it wants_looks().
  virtual void look_again(SoftQp& qp) = 0;
  /// It reads again, or has to look whether its input has ended.
  virtual void want_read(SoftQp& qp) = 0;
  /// A completion queue was armed: no socket behind it may be left to a poller.
  virtual void stop_lease(SoftCq& cq) = 0;
  /// The last thread that slept at a completion queue does so no more.
  virtual void waiter_left() = 0;
  /// The calling thread polls in vain: it may serve sockets that nobody else does meanwhile.
  virtual void help() = 0;
  /// Called again and again by a thread that waits for another one to leave a half.
  virtual void pause() { std::this_thread::yield(); }
  /// Closes a stream that its queue pair has left.
  virtual void see_off(ClosingStream closing) = 0;

  /// Accounts for `octets` more (or, negative, fewer) of half-received FPDUs.
  virtual void account_tail(std::ptrdiff_t octets) = 0;
  /// Whether there is room for more than whole FPDUs leave behind. One that is short of it makes
  /// room by SoftQp::give_up_half_fpdu().
  [[nodiscard]] virtual bool tail_room() const = 0;
};

}  // namespace iwarp::verbs::soft
