#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "iwarp/asio/buffer.hpp"
#include "iwarp/asio/connection_options.hpp"
#include "iwarp/asio/detail/posted.hpp"
#include "iwarp/asio/device.hpp"
#include "iwarp/asio/memory_window.hpp"
#include "iwarp/asio/message_pool.hpp"
#include "iwarp/asio/request.hpp"
#include "iwarp/base/export.hpp"

namespace iwarp::asio {

/// What both sides agreed on.
using connection_info = verbs::ConnectionInfo;

/// One end of an iWARP connection: an I/O object as Asio has them. Each function async_… starts an
/// operation and returns; its completion handler, future or coroutine is told of the end, on its
/// associated executor, or on this object's. Distinct objects may be used from any threads, one
/// object from one thread (or strand) at a time.
///
/// **Order.** Requests of one connection leave in the order in which they were started, and end in
/// that order. More than the send queue holds wait here for their turn.
///
/// **What an end means.** Of a Send or Write: the memory is this side's again, and TCP has the
/// data; not that the peer has it (RFC 5041 §5.4). Of a Read or atomic: the data is here.
///
/// **Memory** named by an operation stays registered, allocated and untouched until the operation
/// has ended; const buffers that are not registered only until the async_… function has returned
/// (with tokens that start later, such as deferred and awaitables, until they have started).
///
/// **Cancellation.** Operations that wait here for their turn, and waits (for a message, for the
/// end of a shutdown, which goes on) can be cancelled without a trace, by cancellation_type total.
/// So can a connect or an accept under way, but that uses the connection up: make another. A
/// request that the device has cannot be taken back: `terminal` (and so a time-out made of
/// `operator||`) closes the connection, weaker types have no effect. Boost 1.74 has no cancellation
/// slots; there, and everywhere, cancel() and close() do it by hand.
///
/// **Misuse.** An operation that cannot be as it was asked for (more than the remote_buffer holds,
/// memory that is not registered or may not be written to, too many buffers, no connection) ends
/// with an error of its own, for which `error == condition::misuse` holds. Nothing of it is sent,
/// and the connection goes on. last_failure() says what was wrong.
///
/// **Destruction**, like close(), ends what is under way with operation_aborted, each operation
/// once. Destroyed when no send request is under way, the connection closes behind what was sent.
class IWARP_API connection {
 public:
  using executor_type = any_io_executor;  ///< As Asio asks for it.

  /// Empty, as one that was moved from: can be destroyed and assigned to. It has no executor yet,
  /// so operations need handlers that have one, and end with bad_descriptor.
  connection();
  /// Neither connected nor anything else. Throws boost::system::system_error: for limits above the
  /// device's, for a pool of another domain.
  connection(any_io_executor executor, domain& in, const connection_options& options = {});
  /// The same on the domain's executor.
  explicit connection(domain& in, const connection_options& options = {})
      : connection(in.get_executor(), in, options) {}
  ~connection();
  connection(connection&&) noexcept;
  connection& operator=(connection&&) noexcept;

  /// Where handlers run that have no executor of their own.
  [[nodiscard]] executor_type get_executor() const { return executor_; }

  // ---- Start and end ----

  /// Connects, which takes at most `options.timeout`. Receives may be started before: what the peer
  /// sends first needs one. void(error_code).
  template <typename Token>
  auto async_connect(const endpoint& to, const connect_options& options, Token&& token) {
    return start<detail::operation<detail::nothing>>(
        [to, options = options.to_verbs()](auto& core, auto& operation) {
          detail::start_connect(core, operation, to, options);
        },
        std::forward<Token>(token));
  }
  /// The same with the stack's own options.
  template <typename Token>
  auto async_connect(const endpoint& to, Token&& token) {
    return async_connect(to, connect_options{}, std::forward<Token>(token));
  }

  /// Starts MPA as the initiator on a TCP connection over which the program has spoken another
  /// protocol (RFC 5044 §7.1.3). `already_read` is what it has read beyond that protocol's end.
  /// Takes the socket even if it fails. void(error_code).
  template <typename Token>
  auto async_adopt(boost::asio::ip::tcp::socket socket, std::vector<std::byte> already_read,
                   const connect_options& options, Token&& token) {
    return start<detail::operation<detail::nothing>>(
        [from = detail::release(std::move(socket), std::move(already_read)),
         options = options.to_verbs()](auto& core, auto& operation) mutable {
          detail::start_adopt(core, operation, from, options);
        },
        std::forward<Token>(token));
  }

  /// Sends what was started, then closes, and waits until the peer has closed too or a time-out.
  /// Receives go on until then. void(error_code).
  template <typename Token>
  auto async_shutdown(Token&& token) {
    return start<detail::operation<detail::nothing>>(
        [](auto& core, auto& operation) { detail::start_shutdown(core, operation); },
        std::forward<Token>(token));
  }

  /// What is under way ends with operation_aborted: at once, except for requests that the device
  /// has. Those end when nothing moves into or out of their memory any more. What had completed
  /// before still arrives, as verbs::QueuePair::close() says, even if the execution context ends
  /// meanwhile.
  void close();
  /// Ends, with operation_aborted, the operations that the device does not know of yet: the first
  /// kind under Cancellation above. The connection stays, unless it was being connected.
  void cancel();

  // ---- Messages ----

  /// One message, which takes a receive of the peer. void(error_code).
  template <typename Token>
  auto async_send(const const_buffer_list& message, Token&& token) {
    return async_request({.local = message}, std::forward<Token>(token));
  }
  /// The same from memory that is not registered: at most max_inline octets, which are copied.
  template <typename Token>
  auto async_send(boost::asio::const_buffer message, Token&& token) {
    return async_request({.unregistered = message}, std::forward<Token>(token));
  }
  /// The same of what is a std::span<const std::byte>, or becomes one: std::as_bytes(…).
  template <std::convertible_to<std::span<const std::byte>> Octets, typename Token>
  auto async_send(const Octets& message, Token&& token) {
    return async_request({.unregistered = detail::to_const_buffer(message)},
                         std::forward<Token>(token));
  }
  /// Also ends an STag of the peer, when the message is delivered (RFC 5040 §5.3).
  template <typename Token>
  auto async_send_invalidate(const const_buffer_list& message, Stag peers, Token&& token) {
    return async_request(
        {.opcode = verbs::Opcode::kSendInvalidate, .local = message, .invalidate = peers},
        std::forward<Token>(token));
  }
  /// Eight octets that take a receive of the peer, but not its memory (RFC 7306 §6).
  template <typename Token>
  auto async_send_immediate(std::uint64_t value, Token&& token) {
    return async_request({.opcode = verbs::Opcode::kImmediate, .immediate = value},
                         std::forward<Token>(token));
  }

  /// The next message, out of the connection's pool: those that come before it is asked for wait.
  /// void(error_code, message). eof when the peer has ended gracefully and all was taken.
  template <typename Token>
  auto async_receive(Token&& token) {
    return start<detail::operation<message>>(
        [](auto& core, auto& operation) { detail::start_message(core, operation); },
        std::forward<Token>(token));
  }
  /// Posts a receive of the caller's own memory; for connections without a pool. It has to be there
  /// before the message comes. void(error_code, received).
  template <typename Token>
  auto async_receive_into(const buffer_list& into, Token&& token) {
    return start<detail::posted<received>>(
        [into](auto& core, auto& operation) { detail::start_receive(core, operation, into); },
        std::forward<Token>(token));
  }

  // ---- The peer's memory ----

  /// RDMA Write. The peer's program learns nothing of it. void(error_code).
  template <typename Token>
  auto async_write(const const_buffer_list& from, const remote_buffer& to, Token&& token) {
    return async_request({.opcode = verbs::Opcode::kWrite, .local = from, .remote = to},
                         std::forward<Token>(token));
  }
  /// The same from memory that is not registered, as async_send().
  template <typename Token>
  auto async_write(boost::asio::const_buffer from, const remote_buffer& to, Token&& token) {
    return async_request({.opcode = verbs::Opcode::kWrite, .unregistered = from, .remote = to},
                         std::forward<Token>(token));
  }
  /// The same of what is a std::span<const std::byte>, or becomes one.
  template <std::convertible_to<std::span<const std::byte>> Octets, typename Token>
  auto async_write(const Octets& from, const remote_buffer& to, Token&& token) {
    return async_write(detail::to_const_buffer(from), to, std::forward<Token>(token));
  }
  /// A Write, and right behind it Immediate Data, which takes a receive of the peer (RFC 7306 §6).
  template <typename Token>
  auto async_write_immediate(const const_buffer_list& from, const remote_buffer& to,
                             std::uint64_t value, Token&& token) {
    return async_request(
        {.opcode = verbs::Opcode::kWriteImmediate, .local = from, .remote = to, .immediate = value},
        std::forward<Token>(token));
  }
  /// RDMA Read of as much as `into` holds. void(error_code).
  template <typename Token>
  auto async_read(const buffer_list& into, const remote_buffer& from, Token&& token) {
    return async_request({.opcode = verbs::Opcode::kRead, .local = into, .remote = from},
                         std::forward<Token>(token));
  }
  /// Adds to eight octets of the peer, in its byte order, and tells what they were before (RFC 7306
  /// §5.1.1). void(error_code, std::uint64_t).
  template <typename Token>
  auto async_fetch_add(const remote_buffer& at, std::uint64_t value, Token&& token) {
    return start_atomic(
        {.opcode = verbs::Opcode::kFetchAdd, .remote = at, .atomic = {.data = value}},
        std::forward<Token>(token));
  }
  /// Makes them `desired` if they are `expected`, and tells what they were before (RFC 7306
  /// §5.1.2). void(error_code, std::uint64_t).
  template <typename Token>
  auto async_compare_swap(const remote_buffer& at, std::uint64_t expected, std::uint64_t desired,
                          Token&& token) {
    return start_atomic({.opcode = verbs::Opcode::kCmpSwap,
                         .remote = at,
                         .atomic = {.data = desired, .mask = UINT64_MAX, .compare = expected}},
                        std::forward<Token>(token));
  }

  // ---- Memory windows ----

  /// Opens a part of `region` to this connection's peer, under the window's next STag, which is the
  /// result. `region` allows access_rights::kWindowBind. void(error_code, remote_buffer).
  template <typename Token>
  auto async_bind(memory_window& window, const registered_memory& region, std::size_t offset,
                  std::size_t size, access_rights rights, Token&& token) {
    return start<detail::posted<remote_buffer>>(
        [binding = window.next_binding(region, offset, size, rights)](auto& core, auto& operation) {
          detail::start_bind(core, operation, binding);
        },
        std::forward<Token>(token));
  }
  /// Closes a window of type 2 again. void(error_code).
  template <typename Token>
  auto async_invalidate(Stag own, Token&& token) {
    return async_request({.opcode = verbs::Opcode::kInvalidate, .invalidate = own},
                         std::forward<Token>(token));
  }

  /// Any request but an atomic, a binding or a registration; those are refused. void(error_code).
  template <typename Token>
  auto async_request(const send_request& request, Token&& token) {
    return start<detail::posted<detail::nothing>>(
        [request](auto& core, auto& operation) { detail::start_request(core, operation, request); },
        std::forward<Token>(token));
  }

  // ---- What is known of it ----

  [[nodiscard]] bool is_open() const;  ///< Connected, and not over.
  /// What both sides agreed on, and the peer's private data; empty before.
  [[nodiscard]] connection_info info() const;
  /// Why it is over, in a sentence: which side ended it, in which layer and why, also if that was
  /// as it should be; of one that did not come about, why not. Empty before, as long as it lives:
  /// an operation that fails on a living connection is told by its own error, and by
  /// last_failure().
  [[nodiscard]] std::string why() const;
  /// The latest operation that failed by itself, in a sentence that names the operation and what
  /// was wrong with it; not those that only ended with the connection. Empty if none has. Whether
  /// the connection lives says is_open().
  [[nodiscard]] std::string last_failure() const;
  /// Why it is over, part by part.
  [[nodiscard]] verbs::Diagnosis diagnosis() const;
  /// What has passed since it connected; zeros before.
  [[nodiscard]] verbs::QpCounters counters() const;
  /// The verbs object. Requests are not to be posted to it: their completions belong to this.
  [[nodiscard]] verbs::QueuePair& native_handle();

  /// Looks for completions, see device::poll_for().
  std::size_t poll_for(std::chrono::nanoseconds duration);

 private:
  friend class connection_request;
  template <typename Operation, typename Launch, typename Token>
  auto start(Launch launch, Token&& token) {
    return detail::initiate<Operation>(core_, executor_, std::forward<Token>(token),
                                       std::move(launch));
  }
  template <typename Token>
  auto start_atomic(const send_request& request, Token&& token) {
    return start<detail::posted<std::uint64_t>>(
        [request](auto& core, auto& operation) { detail::start_atomic(core, operation, request); },
        std::forward<Token>(token));
  }

  any_io_executor executor_;
  std::shared_ptr<detail::connection_core> core_;
};

}  // namespace iwarp::asio
