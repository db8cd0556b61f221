#pragma once

// clang-format off: Boost 1.74's awaitable.hpp uses <utility> without including it.
#include <utility>
// clang-format on

#include <boost/asio.hpp>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <iwarp/asio/acceptor.hpp>
#include <iwarp/asio/connection.hpp>
#include <iwarp/asio/memory.hpp>
#include <iwarp/asio/memory_window.hpp>
#include <iwarp/asio/message_pool.hpp>
#include <string>
#include <vector>

namespace {

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using namespace std::chrono_literals;

// What most programs with Asio have when they come to where the document is.
struct program {
  boost::asio::io_context& context;
  iwarp::asio::device& device;
  iwarp::asio::domain& domain;
  iwarp::asio::connection& connection;
  iwarp::asio::registered_buffer& buffer;
  iwarp::asio::remote_buffer remote;
  iwarp::asio::endpoint endpoint;

  [[maybe_unused]] awaitable<void> fragment();
};

}  // namespace
