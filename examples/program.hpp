#pragma once

// What is around the examples of Asio and not about RDMA: addresses, coroutines that end, Ctrl-C.
// clang-format off
#include <utility>  // which Boost 1.74 forgets: before its coroutines
// clang-format on
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <functional>
#include <iostream>
#include <iwarp/asio.hpp>
#include <optional>

#include "command_line.hpp"

namespace examples {

/// Where to listen, or whom to connect to.
inline iwarp::asio::endpoint address_of(const command_line& given) {
  boost::asio::io_context context;
  return *boost::asio::ip::tcp::resolver(context).resolve(given.host, given.port).begin();
}

/// Whether that is what a coroutine failed with.
inline bool is(const std::exception_ptr& error, boost::system::error_code code) {
  try {
    if (error) std::rethrow_exception(error);
    return false;
  } catch (const boost::system::system_error& failure) {
    return failure.code() == code;
  } catch (...) {
    return false;
  }
}

/// Starts a coroutine that the program is about: if it fails, the error comes out of run(), but for
/// the end that this program has wished.
template <typename Context>
void start(Context&& context, boost::asio::awaitable<void> body, std::function<void()> then = {}) {
  boost::asio::co_spawn(context, std::move(body),
                        [then = std::move(then)](const std::exception_ptr& error) {
                          if (error && !is(error, boost::asio::error::operation_aborted))
                            std::rethrow_exception(error);
                          if (then) then();
                        });
}

/// Starts one for a single peer, whose failure is not the program's: it is told. That the peer ends
/// it (eof) is none.
template <typename Context>
void start_session(Context&& context, boost::asio::awaitable<void> body) {
  boost::asio::co_spawn(context, std::move(body), [](const std::exception_ptr& error) {
    try {
      if (error && !is(error, boost::asio::error::eof) &&
          !is(error, boost::asio::error::operation_aborted))
        std::rethrow_exception(error);
    } catch (const std::exception& failure) {
      std::cerr << "a session failed: " << failure.what() << '\n';
    }
  });
}

/// A server that runs until Ctrl-C: says where it listens, and then makes run() return.
class until_interrupt {
 public:
  until_interrupt(boost::asio::io_context& context, const iwarp::asio::endpoint& at)
      : signals_(context, SIGINT, SIGTERM) {
    std::cout << "listens at " << at << std::endl;
    signals_.async_wait([&context](auto error, int) {
      if (!error) context.stop();
    });
  }

 private:
  boost::asio::signal_set signals_;
};

/// The ends that were asked for: a server at an Acceptor, a client, or both. Made before the
/// context runs, and kept until it has.
template <typename Acceptor>
class ends {
 public:
  /// The Acceptor is made on `where`. `serve(acceptor)` and `ask(endpoint)` make the coroutines.
  template <typename Where, typename Serve, typename Ask>
  ends(const command_line& given, boost::asio::io_context& context, Where& where, Serve serve,
       Ask ask) {
    iwarp::asio::endpoint server = address_of(given);
    if (given.server) {
      acceptor_.emplace(where, server);
      server = acceptor_->local_endpoint();
      start(context, serve(*acceptor_));
    }
    if (given.client) {
      start(context, ask(server), [this] {
        if (acceptor_) acceptor_->close();  // then nothing is left to do, and run() returns
      });
    } else {
      interrupt_.emplace(context, server);
    }
  }
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;

 private:
  std::optional<Acceptor> acceptor_;
  std::optional<until_interrupt> interrupt_;
};

}  // namespace examples
