// A server for a thousand clients: one coroutine each, and one pool of receives for all of them,
// so that memory grows with what is under way and not with the number of connections.
//
//   many_clients server 7471
//   many_clients client 127.0.0.1 7471 1000     a thousand connections, ten questions on each
//   many_clients --self-test 200                both in this process, 200 connections
#include <sys/resource.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <optional>

#include "program.hpp"

namespace net = boost::asio;
namespace iw = iwarp::asio;
using net::awaitable, net::use_awaitable;

namespace {

constexpr int kQuestions = 10;

// A client asks one question at a time, and its next when it has the answer. The answer leaves when
// the question's buffer is back, so that each client has one at most: `share` holds it to that, and
// 1024 are enough for as many clients. One that sends more than its share is cut off, it cannot
// take the others' receives. Where an adapter knows no shares the clients have to be trusted.
iw::message_pool_options pool_of(const iw::device& device) {
  return {.count = 1024, .message_size = 256, .share = device.attributes().srq_share ? 2U : 0U};
}

// The queues of a connection are short as well.
iw::connection_options options_with(const iw::message_pool& pool) {
  return {.max_sends = 4, .max_receives = 1, .messages = &pool};
}

// When all come at once, the last has to wait for those before it.
const iw::connect_options kPatient{.timeout = std::chrono::seconds(60)};

struct counts {
  int now = 0, most = 0, questions = 0;
};

// Adds the two numbers that come.
awaitable<void> answer(iw::connection peer, counts& clients) {
  struct leave {
    counts& clients;
    ~leave() { --clients.now; }
  } const at_the_end{clients};
  clients.most = std::max(clients.most, ++clients.now);
  for (;;) {
    std::array<std::uint64_t, 2> question{};
    {
      const iw::message asked = co_await peer.async_receive(use_awaitable);
      if (net::buffer_copy(net::buffer(question), net::const_buffer(asked)) != sizeof question)
        throw std::runtime_error("a question of another length");
    }  // and the buffer is back in the pool
    const std::uint64_t sum = question[0] + question[1];
    co_await peer.async_send(net::buffer(&sum, sizeof sum), use_awaitable);
    ++clients.questions;
  }
}

awaitable<void> serve(iw::acceptor& acceptor, iw::domain& domain, const iw::message_pool& pool,
                      counts& clients) {
  for (;;) {
    auto peer = co_await acceptor.async_accept(domain, options_with(pool), use_awaitable);
    examples::start_session(acceptor.get_executor(), answer(std::move(peer), clients));
  }
}

// A crowd of clients: none asks before all are connected.
class crowd {
 public:
  crowd(net::io_context& context, int size) : missing_(size), all_here_(context) {
    all_here_.expires_at(std::chrono::steady_clock::time_point::max());
  }
  awaitable<void> arrive() {
    boost::system::error_code cancelled;
    if (--missing_ == 0) {
      all_here_.cancel();
    } else {
      co_await all_here_.async_wait(net::redirect_error(use_awaitable, cancelled));
    }
  }

 private:
  int missing_;
  net::steady_timer all_here_;
};

awaitable<void> ask(iw::domain& domain, iw::endpoint server, const iw::message_pool& pool,
                    std::uint64_t number, crowd& others) {
  iw::connection peer(domain, options_with(pool));
  co_await peer.async_connect(server, kPatient, use_awaitable);
  co_await others.arrive();
  for (std::uint64_t i = 0; i < kQuestions; ++i) {
    const std::array question{number, i};
    co_await peer.async_send(net::buffer(question), use_awaitable);
    const iw::message answered = co_await peer.async_receive(use_awaitable);
    std::uint64_t sum = 0;
    net::buffer_copy(net::buffer(&sum, sizeof sum), net::const_buffer(answered));
    if (sum != number + i) throw std::runtime_error("a wrong sum");
  }
  co_await peer.async_shutdown(use_awaitable);
}

// Each connection is a descriptor, and the usual limit is 1024.
void allow_many_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void run(const examples::command_line& given) {
  const int connections = given.rest.empty() ? 200 : std::stoi(given.rest[0]);
  allow_many_descriptors();
  counts clients;              // older than what the sessions live in
  net::io_context context(1);  // one thread runs it
  iw::device device(context);
  iw::domain domain(device);
  std::optional<iw::message_pool> questions, answers;
  std::optional<iw::acceptor> acceptor;
  std::optional<examples::until_interrupt> interrupt;
  iw::endpoint server = examples::address_of(given);
  if (given.server) {
    questions.emplace(domain, pool_of(device));
    acceptor.emplace(device, server, iw::listen_options{.backlog = 1024});
    server = acceptor->local_endpoint();
    examples::start(context, serve(*acceptor, domain, *questions, clients));
  }
  if (!given.client) interrupt.emplace(context, server);
  const auto begin = std::chrono::steady_clock::now();
  int running = given.client ? connections : 0;
  if (given.client) answers.emplace(domain, pool_of(device));
  crowd others(context, running);
  for (int number = running; number > 0; --number) {
    examples::start(context,
                    ask(domain, server, *answers, static_cast<std::uint64_t>(number), others), [&] {
                      if (--running == 0 && acceptor)
                        acceptor->close();  // then run() has nothing left to do
                    });
  }
  context.run();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  if (given.client)
    std::cout << connections << " connections, " << connections * kQuestions << " questions in "
              << time.count() << " s\n";
  if (given.server)
    std::cout << "served " << clients.questions << " questions, " << clients.most
              << " clients at once\n";
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(
      argc, argv, "many_clients [server PORT | client HOST PORT [COUNT] | --self-test [COUNT]]",
      run);
}
