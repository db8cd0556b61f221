#pragma once

// What is around the examples and not about RDMA: the command line, coroutines that end, Ctrl-C.
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
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {

/// "server PORT ...", "client HOST PORT ...", or both ends in this process: "[--self-test ...]".
struct command_line {
  bool server = false, client = false;
  std::string host = "127.0.0.1", port = "0";
  std::vector<std::string> rest;  ///< The words behind.

  [[nodiscard]] bool both() const { return server && client; }
  /// Where to listen, or whom to connect to.
  [[nodiscard]] iwarp::asio::endpoint address() const {
    boost::asio::io_context context;
    return *boost::asio::ip::tcp::resolver(context).resolve(host, port).begin();
  }
};

inline command_line parse(const std::vector<std::string>& words) {
  const std::string role = words.empty() ? "" : words[0];
  command_line given;
  given.server = role != "client";
  given.client = role != "server";
  std::size_t own = role == "--self-test" ? 1 : 0;
  if (!given.both()) {
    own = given.server ? 2 : 3;
    if (words.size() < own) throw std::invalid_argument("at which address?");
    given.host = given.server ? "0.0.0.0" : words[1];
    given.port = words[own - 1];
  } else if (!role.empty() && !role.starts_with("--")) {
    throw std::invalid_argument("neither server nor client: " + role);
  }
  given.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(own), words.end());
  return given;
}

/// Runs `body` with what was given; what it throws is told, with `usage` if the words were wrong.
inline int run(int argc, char** argv, const char* usage,
               const std::function<void(const command_line&)>& body) {
  try {
    body(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const std::invalid_argument& wrong) {
    std::cerr << argv[0] << ": " << wrong.what() << "\nusage: " << usage << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
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
    iwarp::asio::endpoint server = given.address();
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
