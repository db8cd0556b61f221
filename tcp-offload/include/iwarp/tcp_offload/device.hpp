#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/tcp_offload/error.hpp"
#include "iwarp/tcp_offload/handler.hpp"
#include "iwarp/tcp_offload/offloads.hpp"
#include "iwarp/tcp_offload/stream.hpp"

/// Streaming mode and set-up. Rules for everything in this header:
///
/// Threads. A device has an executor, run by one thread at a time; all handlers run on it, never
/// inside the call that starts or cancels the operation. The objects a device makes belong to the
/// executor: they are used and destroyed in its handlers, or while no thread runs it.
///
/// Cancelling. cancel() and close() end every pending operation of the object: each handler is
/// called exactly once, with std::errc::operation_canceled, or with its result if the operation had
/// ended before. Destroying the object also ends its operations, but no handler of it is called
/// after the destructor has been entered; what the handlers captured is destroyed at the latest
/// with the executor. A handler may destroy the object whose operation it reports.
///
/// Buffers given to an operation stay valid until its handler is called, or until cancel(), close()
/// or the object's destructor has returned.
namespace iwarp::tcp_offload {

class Connection;

/// Reports a read or write: the error, if any, and the octets moved.
using TransferHandler = Handler<std::error_code, std::size_t>;
/// Reports a connection made or accepted; the connection is null exactly when there is an error.
using ConnectionHandler = Handler<std::error_code, std::unique_ptr<Connection>>;
/// Reports that a time has come (no error) or that the wait was cancelled.
using TimerHandler = Handler<std::error_code>;

/// A TCP connection in streaming mode. At most one read and one write may be pending at a time.
/// Destruction closes it as Stream does.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Reads at least one octet and at most into.size(), which is not 0. The end of the stream is
  /// reported as Error::kEndOfStream.
  virtual void async_read_some(MutableBytes into, TransferHandler handler) = 0;
  /// Reads exactly into.size() octets, no octet more. If the stream ends before, the handler gets
  /// Error::kEndOfStream and the number of octets read until then.
  virtual void async_read(MutableBytes into, TransferHandler handler) = 0;
  /// Writes all of `from`, or fails.
  virtual void async_write(ConstBytes from, TransferHandler handler) = 0;

  /// Ends the pending operations; the connection stays open. Octets that a cancelled read had
  /// already taken are reported with it.
  virtual void cancel() = 0;
  /// Ends the pending operations and closes the connection. Further operations fail.
  virtual void close() = 0;

  /// Moves the connection to RDMA mode. The stream first lends `already_read`, octets that belong
  /// to it but were read here (copied; may be empty); its send half counts from here on. Null if
  /// the connection is closed. Afterwards this object only waits for its destruction, and nothing
  /// of the executor knows of the connection any more. Precondition: no operation is pending.
  ///
  /// `negotiated` is what the FPDUs have on the wire, both ways from here on; `already_read` are
  /// such octets. What the stream takes and lends is FPDUs as left_to_host() has them with the
  /// device's offloads(). A device without any leaves the octets alone.
  virtual std::unique_ptr<Stream> hand_over(ConstBytes already_read,
                                            const MpaTerms& negotiated) = 0;
  /// The same for octets that no device is to touch, such as what is no FPDUs.
  std::unique_ptr<Stream> hand_over(ConstBytes already_read) { return hand_over(already_read, {}); }

  /// Gives the connected socket to the caller, who closes it: to leave a connection to its owner
  /// after a rejection. A socket that was adopted is as it was before: blocking or not, closed on
  /// exec or not, with or without TCP_NODELAY; others are non-blocking. -1 if the device has no
  /// descriptors or the connection is closed. Afterwards this object only waits for its
  /// destruction. Precondition: no operation is pending.
  virtual int release_native() = 0;

  /// The address and port of this end.
  [[nodiscard]] virtual Endpoint local() const = 0;
  /// The address and port of the other end.
  [[nodiscard]] virtual Endpoint remote() const = 0;

 protected:
  Connection() = default;
};

/// A listening TCP socket. Destruction closes it.
class Acceptor {
 public:
  virtual ~Acceptor() = default;
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Waits for the next connection. One at a time. An error that will last for a while, such as
  /// running out of descriptors, is reported once, and the next call first pauses: a handler that
  /// just calls again does not spin.
  virtual void async_accept(ConnectionHandler handler) = 0;
  /// The address and port it listens on; the port is never 0.
  [[nodiscard]] virtual Endpoint local_endpoint() const = 0;
  /// Ends the pending operation and stops listening. Further operations fail.
  virtual void close() = 0;

 protected:
  Acceptor() = default;
};

/// How to listen. A device that has no such thing leaves it out.
struct ListenTerms {
  /// With the system's choice of the rest.
  ListenTerms(int waiting) : backlog(waiting) {}
  int backlog;  ///< Connections that wait to be accepted, about.
  /// Accepted ones in streaming mode at a time, about: the device may make room for them
  /// beforehand.
  std::size_t expected = 0;
  /// Whether the IPv6 wildcard address leaves IPv4 to others; none: as the system has it.
  std::optional<bool> v6_only{};
  /// As of LocalEnd; connections that are accepted have it, too.
  std::optional<std::uint8_t> traffic_class{};
};

/// The local end of a connection to be made. A device that has no such thing leaves it out.
struct LocalEnd {
  /// With the system's choice of the rest.
  LocalEnd(const Endpoint& chosen) : at(chosen) {}
  Endpoint at;  ///< An unspecified address or port 0 leaves that part to the system.
  /// The octet of that name in IPv6 headers, and of type of service in those of IPv4; none: the
  /// system's.
  std::optional<std::uint8_t> traffic_class{};
};

/// A one-shot timer.
class Timer {
 public:
  virtual ~Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Calls the handler once `delay` has passed, not earlier. Replaces a wait that is pending, which
  /// ends as if cancelled.
  virtual void async_wait(std::chrono::nanoseconds delay, TimerHandler handler) = 0;
  /// Ends the wait. Its handler, if not called yet, gets std::errc::operation_canceled even if the
  /// time had come already.
  virtual void cancel() = 0;

 protected:
  Timer() = default;
};

/// A connection being made. Destruction gives the attempt up without calling the handler; after
/// the handler was called it does nothing.
class ConnectAttempt {
 public:
  virtual ~ConnectAttempt() = default;
  ConnectAttempt(const ConnectAttempt&) = delete;
  ConnectAttempt& operator=(const ConnectAttempt&) = delete;

  /// Gives the attempt up: the handler gets std::errc::operation_canceled and no connection.
  virtual void cancel() = 0;

 protected:
  ConnectAttempt() = default;
};

/// Something that carries TCP connections, and what it takes off the host. It outlives everything
/// it made. name(), interface(), offloads(), now() and post() may be called from any thread; so may
/// listen(), adopt(), make_timer() and the connect functions, whose results belong to the executor
/// (the handler of a connect called on another thread can run before the call returns).
class Device {
 public:
  using Clock = std::chrono::steady_clock;  ///< What now() and timers count in.

  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// A short name for logs, such as "kernel". Valid as long as the device.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The one network interface that its sockets are confined to; empty if they are not. Valid as
  /// long as the device.
  [[nodiscard]] virtual std::string_view interface() const { return {}; }
  /// What the layers above need not do. Stays the same.
  [[nodiscard]] virtual Offloads offloads() const = 0;

  /// Listens at once; connections queue from here on. Port 0 takes a free one.
  virtual Result<std::unique_ptr<Acceptor>, std::error_code> listen(const Endpoint& at,
                                                                    const ListenTerms& terms) = 0;

  /// Connects to `to` from any local address. There is no time-out but the system's own.
  [[nodiscard]] std::unique_ptr<ConnectAttempt> async_connect(const Endpoint& to,
                                                              ConnectionHandler handler) {
    return async_connect_from(Endpoint(to.protocol(), 0), to, std::move(handler));
  }
  /// The same from a given local end.
  [[nodiscard]] virtual std::unique_ptr<ConnectAttempt> async_connect_from(
      const LocalEnd& from, const Endpoint& to, ConnectionHandler handler) = 0;

  /// Takes over a connected TCP socket in streaming mode and makes it non-blocking. On failure the
  /// socket stays the caller's; a device without descriptors answers std::errc::not_supported.
  virtual Result<std::unique_ptr<Connection>, std::error_code> adopt(int socket) = 0;

  /// A timer of the device's clock, not running.
  virtual std::unique_ptr<Timer> make_timer() = 0;
  /// The device's time: the steady clock, or a virtual one.
  [[nodiscard]] virtual Clock::time_point now() const = 0;
  /// Calls `task` on the executor, in the order of the calls that one thread makes.
  virtual void post(Handler<> task) = 0;

 protected:
  Device() = default;
};

}  // namespace iwarp::tcp_offload
