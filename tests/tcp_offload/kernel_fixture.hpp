#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "iwarp/tcp_offload/kernel_device.hpp"
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {

/// A kernel device and the io_context that is its executor.
class KernelFixture : public ::testing::Test {
 protected:
  struct Streams {
    std::unique_ptr<Stream> client;
    std::unique_ptr<Stream> server;
  };

  /// The two ends of a loopback connection that no device knows.
  struct NativePair {
    int client = -1;
    int server = -1;
  };

  static Endpoint loopback() { return {boost::asio::ip::address_v4::loopback(), 0}; }

  bool run_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      context_.restart();
      context_.run_one_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  Streams connect_streams() {
    const auto acceptor = device_.listen(loopback(), 4);
    EXPECT_TRUE(acceptor);
    Outcome accepted;
    Outcome connected;
    (*acceptor)->async_accept(accepted.connecting());
    const auto attempt =
        device_.async_connect((*acceptor)->local_endpoint(), connected.connecting());
    EXPECT_TRUE(run_until([&] { return accepted.calls + connected.calls == 2; }));
    return {connected.connection->hand_over({}), accepted.connection->hand_over({})};
  }

  /// `prepare` is given the connecting socket before it connects.
  static NativePair connect_natively(const std::function<void(int)>& prepare = [](int) {}) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    Endpoint at = loopback();
    socklen_t size = static_cast<socklen_t>(at.capacity());
    EXPECT_EQ(::bind(listener, at.data(), static_cast<socklen_t>(at.size())), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, at.data(), &size), 0);
    NativePair pair;
    pair.client = ::socket(AF_INET, SOCK_STREAM, 0);
    prepare(pair.client);
    EXPECT_EQ(::connect(pair.client, at.data(), static_cast<socklen_t>(at.size())), 0);
    pair.server = ::accept(listener, nullptr, nullptr);
    EXPECT_GE(pair.server, 0);
    ::close(listener);
    return pair;
  }

  static int int_option(int socket, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(socket, level, name, &value, &size), 0);
    return value;
  }

  boost::asio::io_context context_{1};
  KernelDevice device_{context_, KernelOptions{.accept_pause = std::chrono::milliseconds(20)}};
};

}  // namespace iwarp::tcp_offload::test
