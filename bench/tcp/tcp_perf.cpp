// Raw TCP between two processes, as a program would use it that wants the most of it: what the
// stack is compared with.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "exchange.hpp"

namespace iwarp::bench {
namespace {

constexpr std::size_t kLargestPacket = 65536;  // that TCP hands down in one piece (GSO)
constexpr double kLongest = 600;               // measurement, in seconds
constexpr unsigned kPatience = 10;             // seconds for what takes no time

const std::map<std::string, Wait> kWaits{
    {"block", Wait::kBlock}, {"spin", Wait::kSpin}, {"epoll", Wait::kEpoll}};
const std::map<std::string, Shape> kShapes{{"stream", Shape::kStream},
                                           {"ping-pong", Shape::kPingPong}};

const std::string kPacket = "packet";

struct Arguments {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string shape = "stream", wait = "block", size = kPacket;
  double seconds = 1;
};

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

sockaddr_in endpoint(const Arguments& arguments) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(arguments.port);
  if (::inet_pton(AF_INET, arguments.address.c_str(), &at.sin_addr) != 1) {
    throw std::runtime_error("no IPv4 address: " + arguments.address);
  }
  return at;
}

const sockaddr* as_sockaddr(const sockaddr_in& at) {
  return reinterpret_cast<const sockaddr*>(&at);
}

process::Descriptor make_socket() {
  return process::Descriptor(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

// Ends the process after so long, whatever it waits for: a measurement has no room for clocks.
void give_up_after(unsigned seconds) {
  std::signal(SIGALRM, [](int) {
    constexpr std::string_view kText = "tcp_perf: the other end is silent\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
    ::_exit(1);
  });
  ::alarm(seconds);
}

// A client has a process of its own: what it does to it, or leaves undone, is nothing to the
// others.
[[noreturn]] void serve_in_child(process::Descriptor accepted) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    Stream stream(std::move(accepted), Wait::kBlock);
    give_up_after(kPatience);
    if (const auto task = hear(stream)) {
      give_up_after(static_cast<unsigned>(kLongest) + kPatience);
      serve(stream, *task);
    }
  } catch (const std::exception& error) {
    std::cerr << "tcp_perf: " << error.what() << '\n';
  }
  ::_exit(0);
}

[[noreturn]] void run_server(const Arguments& arguments) {
  std::signal(SIGCHLD, SIG_IGN);  // children leave nothing behind
  const auto listener = make_socket();
  sockaddr_in at = endpoint(arguments);
  socklen_t size = sizeof at;
  checked(::bind(listener.get(), as_sockaddr(at), size), "bind");
  checked(::listen(listener.get(), SOMAXCONN), "listen");
  checked(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
  std::cout << ntohs(at.sin_port) << std::endl;
  for (;;) {
    process::Descriptor accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (accepted) {
      if (::fork() == 0) serve_in_child(std::move(accepted));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Of one way: half a round trip.
nlohmann::json quantiles(std::vector<std::chrono::nanoseconds> round_trips) {
  std::ranges::sort(round_trips);
  nlohmann::json told;
  for (const auto& [name, share] : std::map<std::string, double>{{"min", 0},
                                                                 {"median", 0.5},
                                                                 {"p90", 0.9},
                                                                 {"p99", 0.99},
                                                                 {"p99.9", 0.999},
                                                                 {"max", 1}}) {
    const auto index =
        static_cast<std::size_t>(share * static_cast<double>(round_trips.size() - 1));
    told[name] = seconds(round_trips[index]) * 1e6 / 2;
  }
  return told;
}

// A whole number of segments, as many as leave in one piece.
std::uint32_t packet_of(const Stream& stream) {
  const std::size_t segment = stream.segment();
  return static_cast<std::uint32_t>(std::max<std::size_t>(kLargestPacket / segment, 1) * segment);
}

template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// What is wrong with a size, or nothing, as CLI11 asks.
std::string wrong_size(const std::string& text) {
  const auto size = number_in<std::uint32_t>(text);
  if (text == kPacket || (size && *size > 0 && *size <= kLargestSize)) return {};
  return "neither a number of octets from 1 to " + std::to_string(kLargestSize) +
         " nor the word packet: " + text;
}

std::string wrong_seconds(const std::string& text) {
  const auto seconds = number_in<double>(text);
  if (seconds && *seconds > 0 && *seconds <= kLongest) return {};
  return "no number of seconds above 0, up to 600: " + text;
}

void run_client(const Arguments& arguments) {
  give_up_after(static_cast<unsigned>(arguments.seconds) + kPatience);
  auto socket = make_socket();
  const sockaddr_in to = endpoint(arguments);
  checked(::connect(socket.get(), as_sockaddr(to), sizeof to), "connect");
  Stream stream(std::move(socket), Wait::kBlock);
  const auto size = number_in<std::uint32_t>(arguments.size).value_or(packet_of(stream));
  const Task task{kShapes.at(arguments.shape), kWaits.at(arguments.wait), size};
  const auto duration = std::chrono::duration<double>(arguments.seconds);
  const Measured measured =
      run_client(stream, task, std::chrono::ceil<std::chrono::nanoseconds>(duration));
  nlohmann::json told{
      {"size", task.size},
      {"octets", measured.octets},
      {"seconds", seconds(measured.time)},
      {"octets_per_second", static_cast<double>(measured.octets) / seconds(measured.time)},
      {"cpu_seconds",
       {{"client", seconds(measured.client_cpu)}, {"server", seconds(measured.server_cpu)}}}};
  if (!measured.round_trips.empty()) told["latency_us"] = quantiles(measured.round_trips);
  std::cout << told.dump() << '\n';
}

int run(int argc, char** argv) {
  CLI::App app("Raw TCP between two processes: what the stack is compared with");
  Arguments arguments;
  app.require_subcommand(1);
  CLI::App* server =
      app.add_subcommand("server", "Print the port and serve clients until a signal");
  server->add_option("--address", arguments.address, "IPv4 address to listen at (127.0.0.1)");
  server->add_option("--port", arguments.port, "Port (one that is free)");
  CLI::App* client = app.add_subcommand("client", "Measure once; prints JSON");
  client->add_option("address", arguments.address, "IPv4 address of the server")->required();
  client->add_option("port", arguments.port, "Its port")->required()->check(CLI::Range(1, 65535));
  client->add_option("--shape", arguments.shape, "stream (default) or ping-pong")
      ->check(CLI::IsMember(kShapes));
  client->add_option("--wait", arguments.wait, "block (default), spin or epoll, at both ends")
      ->check(CLI::IsMember(kWaits));
  client
      ->add_option("--size", arguments.size,
                   "Octets of a send, or the word packet (default): the largest whole packet")
      ->check(CLI::Validator(wrong_size, ""));
  client->add_option("--seconds", arguments.seconds, "How long (1), up to 600")
      ->check(CLI::Validator(wrong_seconds, ""));
  CLI11_PARSE(app, argc, argv);
  if (*server) run_server(arguments);
  run_client(arguments);
  return 0;
}

}  // namespace
}  // namespace iwarp::bench

int main(int argc, char** argv) try {
  return iwarp::bench::run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "tcp_perf: " << error.what() << '\n';
  return 1;
}
