// A fragment in a document stands outside of functions.

// clang-format off: Boost 1.74's awaitable.hpp uses <utility> without including it.
#include <utility>
// clang-format on

#include <boost/asio.hpp>
#include <chrono>
#include <iostream>
#include <iwarp/asio/connection.hpp>
#include <iwarp/asio/message_pool.hpp>
#include <memory>

namespace {

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using namespace std::chrono_literals;

// FRAGMENT

}  // namespace
