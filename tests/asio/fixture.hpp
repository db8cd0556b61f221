#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <iwarp/asio.hpp>
#include <optional>
#include <string>
#include <string_view>

/// What tests of the Asio layer share: a device on an io_context, and pairs of connections.
namespace iwarp::asio::test {

namespace net = boost::asio;
using namespace std::chrono_literals;

inline net::const_buffer text(std::string_view words) { return net::buffer(words); }
inline std::string text(const message& from) { return std::string(from.text()); }

/// What a handler was told, and how often.
template <typename Result = detail::nothing>
struct told {
  int times = 0;
  error_code error;
  Result result{};

  auto handler() {
    if constexpr (std::is_same_v<Result, detail::nothing>) {
      return [this](error_code what) {
        ++times;
        error = what;
      };
    } else {
      return [this](error_code what, Result value) {
        ++times;
        error = what;
        result = std::move(value);
      };
    }
  }
};

class AsioTest : public testing::Test {
 protected:
  AsioTest() : AsioTest({.message_count = 16}, {.message_count = 16}) {}
  AsioTest(const connection_options& client_options, const connection_options& server_options)
      : client(client_domain, client_options), server(server_domain, server_options) {}

  /// Runs handlers until `done` holds, at most some seconds; false if it never did.
  template <typename Condition>
  bool run_until(Condition done) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      io.restart();
      io.run_for(5ms);
    }
    return done();
  }
  /// How the operation ends that `start` begins with the handler it is given.
  template <typename Start>
  error_code end_of(Start start) {
    told<> end;
    start(end.handler());
    EXPECT_TRUE(run_until([&] { return end.times == 1; }));
    return end.error;
  }
  /// Runs handlers until there is nothing left to wait for; false if that takes too long.
  bool run_to_end() {
    io.restart();
    io.run_for(20s);
    return io.stopped();
  }

  /// Connects client and server.
  void connect_pair(const connect_options& by_client = {}, const connect_options& by_server = {}) {
    connect(client, server, by_client, by_server);
  }
  void connect(connection& here, connection& there, const connect_options& by_client = {},
               const connect_options& by_server = {}) {
    told<> connected, accepted;
    at.async_request([&](error_code error, connection_request request) {
      ASSERT_FALSE(error) << error.message();
      request.async_accept(there, by_server, accepted.handler());
    });
    here.async_connect(at.local_endpoint(), by_client, connected.handler());
    ASSERT_TRUE(run_until([&] { return connected.times == 1 && accepted.times == 1; }));
    ASSERT_FALSE(connected.error) << connected.error.message() << ": " << here.why();
    ASSERT_FALSE(accepted.error) << accepted.error.message() << ": " << there.why();
  }

  net::io_context io{1};
  device on{io};
  domain client_domain{on};
  domain server_domain{on};
  acceptor at{on, endpoint(net::ip::make_address("127.0.0.1"), 0)};
  connection client;
  connection server;
};

/// A pair whose receives are the caller's own buffers.
class PlainTest : public AsioTest {
 protected:
  PlainTest() : AsioTest({}, {}) {}
};

}  // namespace iwarp::asio::test
