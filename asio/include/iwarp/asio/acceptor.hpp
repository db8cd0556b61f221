#pragma once

#include <boost/asio/compose.hpp>
#include <memory>
#include <vector>

#include "iwarp/asio/connection.hpp"
#include "iwarp/base/export.hpp"

namespace iwarp::asio {

namespace detail {
class acceptor_core;
class awaited_core;
class accept_loop;
}  // namespace detail

/// A peer that asks to connect, and has sent a valid MPA Request. Destroyed unanswered it is
/// rejected. Empty if made by default or moved from.
class IWARP_API connection_request {
 public:
  connection_request();
  ~connection_request();
  connection_request(connection_request&&) noexcept;
  connection_request& operator=(connection_request&&) noexcept;

  /// Whether there is a request to be answered.
  explicit operator bool() const { return request_ != nullptr; }
  /// What the peer stated: addresses, private data, IRD and ORD. Precondition: not empty.
  [[nodiscard]] const connection_info& info() const;

  /// Answers yes; done when the answer is with TCP. Receives may be started on `with` before.
  /// void(error_code).
  template <typename Token>
  auto async_accept(connection& with, const connect_options& options, Token&& token) {
    return detail::initiate<detail::operation<detail::nothing>>(
        with.core_, with.executor_, std::forward<Token>(token),
        [request = take(), options = options.to_verbs()](auto& core, auto& operation) {
          if (!request) return operation.complete(boost::asio::error::already_started);
          accept(core, operation, *request, options);
        });
  }
  /// The same with the stack's own options.
  template <typename Token>
  auto async_accept(connection& with, Token&& token) {
    return async_accept(with, connect_options{}, std::forward<Token>(token));
  }
  /// Answers no, with up to 508 octets for the peer's program.
  error_code reject(boost::asio::const_buffer private_data = {});

 private:
  friend class detail::acceptor_core;
  friend class detail::awaited_core;
  explicit connection_request(std::unique_ptr<verbs::ConnectionRequest> request);
  std::shared_ptr<verbs::ConnectionRequest> take();
  static void accept(detail::connection_core& core, detail::operation<detail::nothing>& operation,
                     verbs::ConnectionRequest& request, const verbs::ConnectOptions& options);

  std::unique_ptr<verbs::ConnectionRequest> request_;
};

/// How a listener treats connecting peers: backlog, time-out.
using listen_options = verbs::ListenOptions;

namespace detail {
IWARP_API void start_request(acceptor_core&, operation<connection_request>&);
/// How often the acceptor was cancelled or closed.
IWARP_API std::uint32_t cancels_of(const acceptor_core& core);
IWARP_API void start_request(awaited_core&, operation<connection_request>&, verbs::StreamingSocket&,
                             const verbs::AwaitOptions&);
IWARP_API std::weak_ptr<canceller> link_of(const std::shared_ptr<acceptor_core>& core);
IWARP_API std::weak_ptr<canceller> link_of(const std::shared_ptr<awaited_core>& core);
}  // namespace detail

/// Takes connections at an address. Used as a connection is: distinct ones from any threads.
class IWARP_API acceptor {
 public:
  using executor_type = any_io_executor;  ///< As Asio asks for it.

  /// Listens from now on; port 0 lets the system choose. Requests that are not asked for yet wait,
  /// as many as `options.backlog`; the others are rejected. Throws boost::system::system_error.
  acceptor(any_io_executor executor, device& of, const endpoint& at,
           const listen_options& options = {});
  /// The same on the device's executor.
  acceptor(device& of, const endpoint& at, const listen_options& options = {})
      : acceptor(of.get_executor(), of, at, options) {}
  ~acceptor();
  acceptor(acceptor&&) noexcept;
  acceptor& operator=(acceptor&&) noexcept;

  /// Where handlers run that have no executor of their own.
  [[nodiscard]] executor_type get_executor() const { return executor_; }
  /// Where it listens; with the port that the system chose.
  [[nodiscard]] endpoint local_endpoint() const;

  /// The next peer that asks, to be looked at before it is answered. void(error_code,
  /// connection_request).
  template <typename Token>
  auto async_request(Token&& token) {
    return detail::initiate<detail::operation<connection_request>>(
        core_, executor_, std::forward<Token>(token),
        [](auto& core, auto& operation) { detail::start_request(core, operation); });
  }

  /// The next connection, made with `options` in domain `in`, on this executor: accepted and
  /// established, whenever the peer sends its first message. A peer that gives up before is passed
  /// over. `in`, and the pool in `options`, stay until then. void(error_code, connection).
  template <typename Token>
  auto async_accept(domain& in, const connection_options& options, const connect_options& start,
                    Token&& token);
  /// The same with the stack's own start-up options.
  template <typename Token>
  auto async_accept(domain& in, const connection_options& options, Token&& token) {
    return async_accept(in, options, connect_options{}, std::forward<Token>(token));
  }
  /// The same with options of the stack's own.
  template <typename Token>
  auto async_accept(domain& in, Token&& token) {
    return async_accept(in, connection_options{}, std::forward<Token>(token));
  }

  /// Ends what waits, with operation_aborted.
  void cancel();
  /// The same, and listens no more. Requests that were not asked for are rejected.
  void close();

 private:
  friend class detail::accept_loop;
  any_io_executor executor_;
  std::shared_ptr<detail::acceptor_core> core_;
};

/// How the responder begins on an adopted connection.
struct IWARP_API await_options {
  /// The last message of the protocol before, which tells the peer that it may send its Request
  /// (RFC 5044 §7.1.3, §7.1.5); sent first. Copied by the call.
  boost::asio::const_buffer last_message{};
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< For that and the Request.

  /// The same for the verbs layer, with a copy of the message.
  [[nodiscard]] verbs::AwaitOptions to_verbs() const;
};

/// Starts MPA as the responder on a TCP connection over which the program has spoken another
/// protocol (RFC 5044 §7.1.3), and waits for the peer's Request. `already_read` is what was read
/// beyond that protocol's end. Takes the socket even if it fails. void(error_code,
/// connection_request).
template <typename Token>
auto async_await_request(device& on, boost::asio::ip::tcp::socket socket,
                         std::vector<std::byte> already_read, const await_options& options,
                         Token&& token) {
  return detail::initiate<detail::operation<connection_request>>(
      detail::make_awaited(on), on.get_executor(), std::forward<Token>(token),
      [from = detail::release(std::move(socket), std::move(already_read)),
       options = options.to_verbs()](auto& core, auto& operation) mutable {
        detail::start_request(core, operation, from, options);
      });
}

namespace detail {

/// Accepts until it works, or until it is not the peer's fault that it does not.
class accept_loop {
 public:
  accept_loop(acceptor& from, domain& in, const connection_options& options,
              const connect_options& start)
      : core_(from.core_),
        cancels_(core_ ? cancels_of(*core_) : 0),
        executor_(from.executor_),
        in_(&in),
        options_(options),
        own_data_(buffer_copy_of(start.private_data)),
        start_(start) {}

  template <typename Self>
  void operator()(Self& self) {
#ifdef IWARP_ASIO_HAS_CANCELLATION
    self.reset_cancellation_state(boost::asio::enable_total_cancellation());
#endif
    next(self);
  }
  template <typename Self>
  void operator()(Self& self, error_code error, connection_request request) {
    if (error || is_cancelled(self)) {
      return self.complete(error ? error : boost::asio::error::operation_aborted, connection());
    }
    try {
      made_ = connection(executor_, *in_, options_);
    } catch (const boost::system::system_error& refused) {
      return self.complete(refused.code(), connection());
    }
    start_.private_data = boost::asio::buffer(own_data_);
    request.async_accept(made_, start_, std::move(self));
  }
  template <typename Self>
  void operator()(Self& self, error_code error) {
    if (!error) return self.complete(error, std::move(made_));
    // What this side's own options make impossible would fail with every peer.
    if (is_cancelled(self)) error = boost::asio::error::operation_aborted;
    if (error == boost::asio::error::operation_aborted ||
        error == boost::asio::error::invalid_argument) {
      return self.complete(error, connection());
    }
    next(self);
  }

 private:
  static std::vector<std::byte> buffer_copy_of(boost::asio::const_buffer data) {
    const auto* octets = static_cast<const std::byte*>(data.data());
    return {octets, octets + data.size()};
  }
  // Between two operations a cancellation is not heard.
  template <typename Self>
  [[nodiscard]] bool is_cancelled([[maybe_unused]] Self& self) const {
#ifdef IWARP_ASIO_HAS_CANCELLATION
    if (self.get_cancellation_state().cancelled() != boost::asio::cancellation_type::none) {
      return true;
    }
#endif
    return cancels_of(*core_) != cancels_;
  }
  template <typename Self>
  void next(Self& self) {
    const auto core = core_;
    const auto executor = executor_;
    initiate<operation<connection_request>>(
        core, executor, std::move(self),
        [](auto& acceptor, auto& operation) { start_request(acceptor, operation); });
  }

  std::shared_ptr<acceptor_core> core_;
  std::uint32_t cancels_;
  any_io_executor executor_;
  domain* in_;
  connection_options options_;
  std::vector<std::byte> own_data_;
  connect_options start_;
  connection made_;
};

}  // namespace detail

template <typename Token>
auto acceptor::async_accept(domain& in, const connection_options& options,
                            const connect_options& start, Token&& token) {
  return boost::asio::async_compose<Token, void(error_code, connection)>(
      detail::accept_loop(*this, in, options, start), token, executor_);
}

}  // namespace iwarp::asio
