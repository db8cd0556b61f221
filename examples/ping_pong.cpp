// 64 octets to a peer and back, again and again, as coroutines; prints how long that takes.
//
//   ping_pong server 7471               answers whoever connects, until Ctrl-C
//   ping_pong client 127.0.0.1 7471     measures against it
//   ping_pong                           both ends in this process
//
// --poll behind that, at either end, looks for completions all the time instead of sleeping until
// there are some: the latency is lower, and a processor is busy. --rounds N: so many round trips.
#include <array>
#include <chrono>

#include "program.hpp"

namespace net = boost::asio;
namespace iw = iwarp::asio;
using net::awaitable, net::use_awaitable;
using namespace std::chrono_literals;

namespace {

// Only one message is under way at a time, so a few receives are plenty.
constexpr iw::connection_options kOptions{.message_count = 4, .message_size = 64};

// Sends back what comes, from the memory to which it came, until the peer closes (eof).
awaitable<void> echo(iw::connection peer) {
  for (;;) {
    const iw::message ping = co_await peer.async_receive(use_awaitable);
    co_await peer.async_send(ping.buffer(), use_awaitable);
  }
}

awaitable<void> serve(iw::acceptor& acceptor, iw::domain& domain) {
  for (;;) {
    auto peer = co_await acceptor.async_accept(domain, kOptions, use_awaitable);
    examples::start_session(acceptor.get_executor(), echo(std::move(peer)));
  }
}

awaitable<void> measure(iw::domain& domain, iw::endpoint server, int rounds) {
  iw::connection peer(domain, kOptions);
  co_await peer.async_connect(server, use_awaitable);
  const std::array<char, 64> ping{};  // so little need not be registered: it is copied
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    co_await peer.async_send(net::buffer(ping), use_awaitable);
    const iw::message pong = co_await peer.async_receive(use_awaitable);
    if (pong.size() != ping.size()) throw std::runtime_error("a pong of another size");
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  std::cout << rounds << " round trips, " << time.count() / rounds / 2 << " us one way (mean)\n";
  co_await peer.async_shutdown(use_awaitable);
}

// As context.run(), without sleep.
void run_polling(net::io_context& context, iw::device& device) {
  while (!context.stopped()) {
    device.poll_for(100us);
    context.poll();
  }
}

struct arguments {
  bool poll = false;
  int rounds = 10'000;
};

arguments parse(const std::vector<std::string>& words) {
  arguments given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--poll") {
      given.poll = true;
    } else if (words[i] == "--rounds" && i + 1 < words.size()) {
      given.rounds = std::stoi(words[++i]);
    } else {
      throw std::invalid_argument(words[i]);
    }
  }
  return given;
}

void run(const examples::command_line& given) {
  const auto words = parse(given.rest);
  net::io_context context(1);  // one thread runs it
  iw::device device(context);
  iw::domain domain(device);
  const examples::ends<iw::acceptor> ends(
      given, context, device, [&](auto& acceptor) { return serve(acceptor, domain); },
      [&](const auto& at) { return measure(domain, at, words.rounds); });
  if (words.poll) {
    run_polling(context, device);
  } else {
    context.run();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(argc, argv,
                       "ping_pong [server PORT | client HOST PORT] [--poll] [--rounds N]", run);
}
