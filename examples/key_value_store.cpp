// A table in one host's memory that others look up and change without its processor: RDMA Reads,
// atomics and RDMA Writes. The server tells where the table is when a client connects, no more.
//
//   key_value_store server 7471
//   key_value_store client 127.0.0.1 7471 put colour blue
//   key_value_store client 127.0.0.1 7471 get colour
//   key_value_store                       several clients and a server in this process
//
// How that works is in key_value_store.hpp.
#include "key_value_store.hpp"

#include <boost/asio/redirect_error.hpp>
#include <optional>

#include "program.hpp"

namespace net = boost::asio;
namespace iw = iwarp::asio;
using examples::store;
using net::awaitable, net::use_awaitable;

namespace {

// The server's part: a connection stays until the peer has closed it.
awaitable<void> keep(iw::connection peer) {
  boost::system::error_code end;
  co_await peer.async_receive(net::redirect_error(use_awaitable, end));
}

awaitable<void> serve(iw::acceptor& acceptor, iw::domain& domain, iw::remote_buffer table) {
  const auto where = table.to_bytes();
  for (;;) {
    auto peer = co_await acceptor.async_accept(domain, {.message_count = 1},
                                               {.private_data = net::buffer(where)}, use_awaitable);
    examples::start_session(acceptor.get_executor(), keep(std::move(peer)));
  }
}

awaitable<void> one_command(iw::domain& domain, iw::endpoint server,
                            std::vector<std::string> words) {
  store table(domain);
  co_await table.open(server);
  if (words.size() == 3 && words[0] == "put") {
    co_await table.put(words[1], words[2]);
  } else if (words.size() == 2 && words[0] == "get") {
    std::cout << (co_await table.get(words[1])).value_or("(nothing)") << '\n';
  } else {
    throw std::invalid_argument("put what, or get what?");
  }
  co_await table.close();
}

// One of several that change the same few keys.
awaitable<void> try_out(iw::domain& domain, iw::endpoint server, int name) {
  store table(domain);
  co_await table.open(server);
  for (int i = 0; i < 200; ++i) {
    const std::string key = "key " + std::to_string(i % 10);
    co_await table.put(key, key + " by client " + std::to_string(name));
    const auto value = co_await table.get(key);
    if (!value || !value->starts_with(key + " by client ")) throw std::runtime_error("wrong value");
  }
  std::cout << "client " << name << ": 200 puts, " << table.torn_reads() << " torn reads\n";
  co_await table.close();
}

void run(const examples::command_line& given) {
  net::io_context context(1);  // one thread runs it
  iw::device device(context);
  iw::domain domain(device);
  if (!given.server) {
    examples::start(context, one_command(domain, examples::address_of(given), given.rest));
    context.run();
    return;
  }
  const iw::registered_buffer table(
      domain, examples::kBuckets * sizeof(examples::bucket),
      iw::access_rights::kLocalWrite | iw::access_rights::kRemoteRead |
          iw::access_rights::kRemoteWrite | iw::access_rights::kRemoteAtomic);
  iw::acceptor acceptor(device, examples::address_of(given));
  std::optional<examples::until_interrupt> interrupt;
  examples::start(context, serve(acceptor, domain, table.remote()));
  int running = given.client ? 3 : 0;
  for (int name = running; name > 0; --name) {
    examples::start(context, try_out(domain, acceptor.local_endpoint(), name), [&] {
      if (--running == 0) acceptor.close();  // then nothing is left to do, and run() returns
    });
  }
  if (!given.client) interrupt.emplace(context, acceptor.local_endpoint());
  context.run();
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(
      argc, argv,
      "key_value_store [server PORT | client HOST PORT put KEY VALUE | client HOST PORT get KEY]",
      run);
}
