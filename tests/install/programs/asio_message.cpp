// A message from one coroutine to another, and errors that the library and the program must see
// alike: categories that are compared by address, and an exception.
// clang-format off
#include <utility>  // which Boost 1.74 forgets in awaitable.hpp
// clang-format on
#include <boost/asio.hpp>
#include <iostream>
#include <iwarp/asio.hpp>
#include <stdexcept>

namespace {

namespace net = boost::asio;
namespace rdma = iwarp::asio;

constexpr std::string_view kText = "hello from the installed library";
bool ended_by_eof = false;

net::awaitable<void> serve(rdma::acceptor& at, rdma::domain& in, const rdma::message_pool& pool) {
  rdma::connection_options options;
  options.messages = &pool;
  auto peer = co_await at.async_accept(in, options, net::use_awaitable);
  const auto message = co_await peer.async_receive(net::use_awaitable);
  std::cout << message.text() << '\n';
  try {
    (void)co_await peer.async_receive(net::use_awaitable);
  } catch (const boost::system::system_error& end) {
    ended_by_eof = end.code() == net::error::eof;
  }
}

net::awaitable<void> send(rdma::domain& in, const rdma::endpoint to) {
  rdma::connection peer(in);
  co_await peer.async_connect(to, net::use_awaitable);
  co_await peer.async_send(net::buffer(kText), net::use_awaitable);
  co_await peer.async_shutdown(net::use_awaitable);
}

/// What the library throws is what the program knows.
bool refuses_a_wrong_name(net::io_context& context) {
  try {
    const rdma::device none(context, "no such device");
  } catch (const boost::system::system_error&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  net::io_context context;
  if (!refuses_a_wrong_name(context)) throw std::runtime_error("an exception got lost");
  rdma::device device(context);
  rdma::domain domain(device);
  rdma::message_pool pool(domain, {.count = 16});
  rdma::acceptor acceptor(device, {net::ip::make_address("127.0.0.1"), 0});
  const auto rethrow = [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  };
  net::co_spawn(context, serve(acceptor, domain, pool), rethrow);
  net::co_spawn(context, send(domain, acceptor.local_endpoint()), rethrow);
  context.run();
  if (!ended_by_eof) throw std::runtime_error("the end was not boost::asio::error::eof");
}
