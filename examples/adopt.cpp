// A TCP connection that begins with another protocol, as iSER's does with iSCSI's login, and turns
// into an RDMA connection when both have agreed (RFC 5044 §7.1.3). Here the other protocol is
// lines:
//
//   client                                server
//   HELLO world             ->
//                           <-            HELLO yourself
//   STARTRDMA               ->
//                           <-            OK          the last octets of the other protocol
//   MPA Request ...         ->                        from here on it is iWARP
//
//   adopt server 7471
//   adopt client 127.0.0.1 7471
//   adopt                       both ends in this process
#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <string_view>

#include "program.hpp"

namespace net = boost::asio;
namespace iw = iwarp::asio;
using net::awaitable, net::use_awaitable;
using net::ip::tcp;

namespace {

constexpr iw::connection_options kOptions{.message_count = 4, .message_size = 256};

// Lines over TCP. What was read beyond a line stays in `read_`, until it is asked for.
class line_stream {
 public:
  explicit line_stream(tcp::socket socket) : socket_(std::move(socket)) {}

  awaitable<void> write(std::string line) {
    line += '\n';
    co_await net::async_write(socket_, net::buffer(line), use_awaitable);
  }
  awaitable<std::string> read() {
    const std::size_t size = co_await net::async_read_until(
        socket_, net::dynamic_buffer(read_, 1024), '\n', use_awaitable);
    std::string line = read_.substr(0, size - 1);
    read_.erase(0, size);
    co_return line;
  }
  // Both are for the adoption: octets of MPA may have come already, right behind the last line.
  [[nodiscard]] std::vector<std::byte> already_read() const {
    const auto octets = std::as_bytes(std::span(read_));
    return {octets.begin(), octets.end()};
  }
  tcp::socket release() { return std::move(socket_); }

 private:
  tcp::socket socket_;
  std::string read_;
};

awaitable<void> talk(line_stream lines, iw::device& device, iw::domain& domain) {
  for (;;) {
    const std::string line = co_await lines.read();
    if (line == "STARTRDMA") break;
    co_await lines.write(line.starts_with("HELLO") ? "HELLO yourself" : "WHAT?");
  }
  // The OK is sent by the adoption: the client may send its Request as soon as it has come, and it
  // must not be read as lines.
  const std::string_view ok = "OK\n";
  auto request = co_await iw::async_await_request(device, lines.release(), lines.already_read(),
                                                  {.last_message = net::buffer(ok)}, use_awaitable);
  iw::connection peer(domain, kOptions);
  co_await request.async_accept(peer, use_awaitable);
  for (;;) {
    const iw::message message = co_await peer.async_receive(use_awaitable);
    co_await peer.async_send(message.buffer(), use_awaitable);
  }
}

awaitable<void> serve(tcp::acceptor& acceptor, iw::device& device, iw::domain& domain) {
  for (;;) {
    line_stream lines(co_await acceptor.async_accept(use_awaitable));
    examples::start_session(acceptor.get_executor(), talk(std::move(lines), device, domain));
  }
}

awaitable<void> ask(iw::domain& domain, iw::endpoint server) {
  tcp::socket socket(domain.get_executor());
  co_await socket.async_connect(server, use_awaitable);
  line_stream lines(std::move(socket));
  co_await lines.write("HELLO world");
  std::cout << "in lines: " << co_await lines.read() << '\n';
  co_await lines.write("STARTRDMA");
  if (co_await lines.read() != "OK") throw std::runtime_error("the server does not speak RDMA");
  iw::connection peer(domain, kOptions);
  co_await peer.async_adopt(lines.release(), lines.already_read(), {}, use_awaitable);
  const std::string_view text = "hello over RDMA";
  co_await peer.async_send(net::buffer(text), use_awaitable);
  const iw::message echo = co_await peer.async_receive(use_awaitable);
  std::cout << "in messages: " << echo.text() << '\n';
  co_await peer.async_shutdown(use_awaitable);
}

void run(const examples::command_line& given) {
  net::io_context context(1);  // one thread runs it
  iw::device device(context);
  iw::domain domain(device);
  const examples::ends<tcp::acceptor> ends(
      given, context, context, [&](auto& acceptor) { return serve(acceptor, device, domain); },
      [&](const auto& at) { return ask(domain, at); });
  context.run();
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(argc, argv, "adopt [server PORT | client HOST PORT]", run);
}
