// What the Asio layer costs: a ping-pong of 64 octets with coroutines, beside the same with verbs
// over another connection of the same two processes. The slices take turns, so that both see the
// same machine; the figures are medians over the slices, the ratio that of neighbouring slices.
//
//   asio_bench [--slices N] [--rounds N] [--only polling|sleeping] [--json]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
// clang-format off
#include <utility>  // which Boost 1.74 forgets: before its coroutines
// clang-format on
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iwarp/asio.hpp>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net = boost::asio;
namespace iw = iwarp::asio;
namespace verbs = iwarp::verbs;
using net::awaitable, net::use_awaitable;
using namespace std::chrono_literals;

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

// Counted for the whole process, the stack's own threads included. Not inlined: g++ would take the
// free() inside for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::uint32_t kSize = 64;
constexpr std::uint32_t kReceives = 8;

enum class waiting { polling, sleeping };
enum class api { verbs, coroutines };
enum class side { client, server };

// What one slice is to be; the client tells the server.
struct slice {
  api with{};
  waiting how{};
  int rounds = 0;
};

struct figures {
  double microseconds = 0;  // one way
  double allocations = 0;   // of a Send and a receive together
};

template <typename T>
T must(verbs::Outcome<T> outcome) {
  if (!outcome) throw std::runtime_error(outcome.error().message);
  return std::move(*outcome);
}

class stop_watch {
 public:
  [[nodiscard]] figures per_round(int rounds) const {
    const std::chrono::duration<double, std::micro> time = clock_type::now() - begin_;
    return {time.count() / rounds / 2,
            static_cast<double>(allocations.load() - allocations_) / rounds};
  }

 private:
  clock_type::time_point begin_ = clock_type::now();
  std::uint64_t allocations_ = allocations.load();
};

// An end of the connection that is used by verbs: receives stand ready, each message is sent from
// registered memory, and both completions are waited for, as the coroutines do.
class verbs_end {
 public:
  explicit verbs_end(verbs::Device& device)
      : memory_((kReceives + 1) * kSize),
        pd_(must(device.alloc_pd())),
        queue_(must(device.create_cq(64))),
        region_(must(pd_.register_memory(memory_, verbs::Access::kLocalWrite))),
        qp_(must(pd_.create_qp(queue_))) {
    for (std::uint64_t i = 0; i < kReceives; ++i) receive(i);
  }
  [[nodiscard]] verbs::QueuePair& qp() { return qp_; }

  figures run(const slice& what, side which) {
    const stop_watch time;
    for (int i = 0; i < what.rounds; ++i) {
      if (which == side::client) send();
      while (received_ == 0 || (which == side::client && !sent_)) take(what.how);
      --received_;
      if (which == side::client) continue;
      send();
      while (!sent_) take(what.how);
    }
    return time.per_round(what.rounds);
  }

 private:
  void receive(std::uint64_t place) {
    const auto where = region_.sge(place * kSize, kSize);
    if (!qp_.post_receive({.wr_id = place, .sges = {&where, 1}})) fail();
  }
  void send() {
    const auto what = region_.sge(kReceives * kSize, kSize);
    sent_ = false;
    if (!qp_.post_send({.wr_id = kReceives, .sges = {&what, 1}})) fail();
  }
  void take(waiting how) {
    if (how == waiting::sleeping) {
      if (const auto done = queue_.wait(10s)) return on(*done);
      throw std::runtime_error("no completion within 10 s");
    }
    std::array<verbs::Completion, 4> done;
    const std::size_t count = queue_.poll(done);
    for (std::size_t i = 0; i < count; ++i) on(done[i]);
  }
  void on(const verbs::Completion& done) {
    if (done.status != verbs::Status::kSuccess) fail();
    if (done.wr_id == kReceives) {
      sent_ = true;
    } else {
      ++received_;
      receive(done.wr_id);
    }
  }
  [[noreturn]] void fail() { throw std::runtime_error(qp_.diagnosis().to_string()); }

  std::vector<std::byte> memory_;
  verbs::ProtectionDomain pd_;
  verbs::CompletionQueue queue_;
  verbs::MemoryRegion region_;
  verbs::QueuePair qp_;
  bool sent_ = true;
  int received_ = 0;
};

// The same with coroutines.
class coroutine_end {
 public:
  coroutine_end(net::io_context& context, iw::device& device)
      : context_(context),
        device_(device),
        domain_(device),
        memory_(domain_, kSize),
        connection_(domain_, {.message_count = kReceives, .message_size = kSize}) {}
  [[nodiscard]] iw::connection& connection() { return connection_; }

  // Runs the context until the coroutine is over.
  void complete(awaitable<void> body, waiting how) {
    bool over = false;
    net::co_spawn(context_, std::move(body), [&](const std::exception_ptr& error) {
      over = true;
      if (error) std::rethrow_exception(error);
    });
    context_.restart();
    while (!over) {
      if (how == waiting::sleeping) {
        context_.run();
      } else {
        device_.poll_for(100us);
        context_.poll();
      }
    }
  }
  figures run(const slice& what, side which) {
    complete(which == side::client ? ping(what.rounds) : pong(what.rounds), what.how);
    return figures_;
  }

 private:
  awaitable<void> ping(int rounds) {
    const stop_watch time;
    for (int i = 0; i < rounds; ++i) {
      co_await connection_.async_send(memory_.part(0), use_awaitable);
      co_await connection_.async_receive(use_awaitable);
    }
    figures_ = time.per_round(rounds);
  }
  awaitable<void> pong(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      co_await connection_.async_receive(use_awaitable);
      co_await connection_.async_send(memory_.part(0), use_awaitable);
    }
  }

  net::io_context& context_;
  iw::device& device_;
  iw::domain domain_;
  iw::registered_buffer memory_;
  iw::connection connection_;
  figures figures_;
};

// One process: a connection for each way, over the same device.
struct process {
  net::io_context context{1};
  iw::device device{context};
  verbs_end by_verbs{device.native_handle()};
  coroutine_end by_coroutines{context, device};

  figures run(const slice& what, side which) {
    return what.with == api::verbs ? by_verbs.run(what, which) : by_coroutines.run(what, which);
  }
};

// ---- The server, a child: it learns by a pipe what comes, and ends when the pipe does ----

template <typename T>
bool read_value(int from, T& value) {
  return read(from, &value, sizeof value) == sizeof value;
}
template <typename T>
void write_value(int to, const T& value) {
  if (write(to, &value, sizeof value) != sizeof value) throw std::runtime_error("the pipe is shut");
}

void serve(int from, int to) {
  process own;
  const iw::endpoint any(net::ip::address_v4::loopback(), 0);
  auto listener = must(own.device.native_handle().listen(any));
  iw::acceptor acceptor(own.device, any);
  write_value(to, listener.endpoint().port());
  write_value(to, acceptor.local_endpoint().port());
  auto request = listener.next(10s);
  if (!request) throw std::runtime_error("no peer connects");
  must(request->accept(own.by_verbs.qp()));
  own.by_coroutines.complete(
      [](iw::acceptor& at, iw::connection& with) -> awaitable<void> {
        auto asked = co_await at.async_request(use_awaitable);
        co_await asked.async_accept(with, use_awaitable);
      }(acceptor, own.by_coroutines.connection()),
      waiting::sleeping);
  for (slice next; read_value(from, next);) own.run(next, side::server);
}

// ---- The client ----

struct arguments {
  int slices = 41, rounds = 1000;
  bool polling = true, sleeping = true, json = false;
};

arguments parse(int argc, char** argv) {
  arguments given;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      given.json = true;
    } else if (word == "--slices" && i + 1 < argc) {
      given.slices = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--rounds" && i + 1 < argc) {
      given.rounds = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--only" && i + 1 < argc) {
      given.polling = std::string_view(argv[++i]) == "polling";
      given.sleeping = !given.polling;
    } else {
      throw std::invalid_argument(
          "usage: [--slices N] [--rounds N] [--only polling|sleeping] [--json]");
    }
  }
  return given;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct comparison {
  std::vector<double> verbs, coroutines, ratios, verbs_allocations, allocations;
};

comparison compare(process& own, int to, const arguments& given, waiting how) {
  comparison result;
  for (int i = -1; i < given.slices; ++i) {  // the first is for warming up
    std::array<figures, 2> both;
    for (const api with : {api::verbs, api::coroutines}) {
      const slice next{with, how, given.rounds};
      write_value(to, next);
      both[with == api::verbs ? 0 : 1] = own.run(next, side::client);
    }
    if (i < 0) continue;
    result.verbs.push_back(both[0].microseconds);
    result.coroutines.push_back(both[1].microseconds);
    result.ratios.push_back(both[1].microseconds / both[0].microseconds);
    result.verbs_allocations.push_back(both[0].allocations);
    result.allocations.push_back(both[1].allocations);
  }
  return result;
}

void print(const char* name, const comparison& of, bool json) {
  const char* format =
      json ? "{\"name\": \"%s\", \"coroutines_us\": %.3f, \"verbs_us\": %.3f, \"ratio\": %.3f, "
             "\"allocations\": %.4f, \"verbs_allocations\": %.4f}\n"
           : "%-9s coroutines %7.2f us   verbs %7.2f us   ratio %.2f   allocations of a Send and a "
             "receive %.4f (verbs %.4f)\n";
  std::printf(format, name, median(of.coroutines), median(of.verbs), median(of.ratios),
              median(of.allocations), median(of.verbs_allocations));
  std::fflush(stdout);
}

void measure(int from, int to, const arguments& given) {
  process own;
  std::uint16_t verbs_port = 0, coroutines_port = 0;
  if (!read_value(from, verbs_port) || !read_value(from, coroutines_port))
    throw std::runtime_error("the server did not start");
  const auto loopback = net::ip::address_v4::loopback();
  must(own.by_verbs.qp().connect({loopback, verbs_port}));
  own.by_coroutines.complete(
      own.by_coroutines.connection().async_connect({loopback, coroutines_port}, use_awaitable),
      waiting::sleeping);
  if (given.polling) print("polling", compare(own, to, given, waiting::polling), given.json);
  if (given.sleeping) print("sleeping", compare(own, to, given, waiting::sleeping), given.json);
  own.by_verbs.qp().disconnect();
  own.by_verbs.qp().wait_disconnected(10s);
}

// Forks before anything is opened: threads and descriptors would not follow.
int run(const arguments& given) {
  std::array<int, 2> to_server{}, to_client{};
  if (pipe(to_server.data()) != 0 || pipe(to_client.data()) != 0)
    throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no second process");
  if (child == 0) {
    close(to_server[1]);
    close(to_client[0]);
    serve(to_server[0], to_client[1]);
    return 0;
  }
  close(to_server[0]);
  close(to_client[1]);
  measure(to_client[0], to_server[1], given);
  close(to_server[1]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "asio_bench: " << error.what() << '\n';
    return 1;
  }
}
