// The attackers of scripts/siege, and the sink that they attack for comparison. What they do is in
// attack.cpp; README.md says how they are judged.
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include "army.hpp"
#include "sink.hpp"

namespace iwarp::siege {
namespace {

constexpr const char* kUsage =
    "usage: siege_attackers sink [--cut CONNECTIONS_PER_SECOND]\n"
    "       siege_attackers attack NAME --server serve|asio|rping|verbs --port PORT\n"
    "         [--attackers N] [--addresses same|many] [--rate CONNECTIONS_PER_SECOND]\n"
    "         [--pause MILLISECONDS] [--blind yes]\n"
    "The sink prints its port, attackers a line when they begin. Both go on until SIGTERM. "
    "Attackers\n"
    "print what they have done at SIGUSR1, and at their end.\n";

volatile std::sig_atomic_t stopped = 0, asked = 0;

using Flags = std::map<std::string, std::string>;

Flags parse(int argc, char** argv, int from) {
  Flags flags;
  for (int i = from; i < argc; i += 2) {
    if (std::strncmp(argv[i], "--", 2) != 0 || i + 1 == argc) throw std::invalid_argument(argv[i]);
    flags[argv[i] + 2] = argv[i + 1];
  }
  return flags;
}

std::string take(Flags& flags, const std::string& name, const std::string& otherwise) {
  const auto found = flags.find(name);
  if (found == flags.end()) return otherwise;
  std::string value = found->second;
  flags.erase(found);
  return value;
}

void expect_no_more(const Flags& flags) {
  if (!flags.empty()) throw std::invalid_argument("--" + flags.begin()->first);
}

template <typename T>
T known(std::optional<T> value, const std::string& name) {
  if (!value) throw std::invalid_argument(name);
  return *value;
}

// Each attacker and each guest of the sink is a descriptor.
void raise_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void run_sink(Flags flags) {
  const double cuts = std::stod(take(flags, "cut", "0"));
  expect_no_more(flags);
  Sink sink(cuts);
  std::cout << sink.port() << std::endl;
  while (stopped == 0) sink.turn();
}

Orders orders_of(const std::string& attack, Flags flags) {
  Orders orders;
  orders.attack = known(attack_named(attack), attack);
  const std::string server = take(flags, "server", "");
  orders.server = known(server_named(server), "--server " + server);
  orders.port = static_cast<std::uint16_t>(std::stoi(take(flags, "port", "")));
  orders.attackers = std::stoul(take(flags, "attackers", "1000"));
  orders.many_addresses = take(flags, "addresses", "same") == "many";
  orders.rate = std::stod(take(flags, "rate", "2000"));
  orders.pause = std::chrono::milliseconds(std::stoi(take(flags, "pause", "1000")));
  orders.blind = take(flags, "blind", "no") == "yes";
  expect_no_more(flags);
  return orders;
}

void print(const Army& army, double seconds) {
  const Tally& tally = army.tally();
  std::cout << "{\"seconds\": " << seconds << ", \"connects\": " << tally.connects
            << ", \"refused\": " << tally.refused << ", \"cut_off\": " << tally.cut_off
            << ", \"replies\": " << tally.replies << ", \"rejected\": " << tally.rejected
            << ", \"sent\": " << tally.sent << ", \"read\": " << tally.read
            << ", \"connected\": " << army.connected() << "}" << std::endl;
}

void run_attack(const Orders& orders) {
  Army army(orders);
  std::cout << "attacking" << std::endl;
  const auto began = Clock::now();
  const auto seconds = [began] {
    return std::chrono::duration<double>(Clock::now() - began).count();
  };
  while (stopped == 0) {
    army.turn();
    if (asked != 0) print(army, seconds());
    asked = 0;
  }
  print(army, seconds());
}

void run(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "sink") return run_sink(parse(argc, argv, 2));
  if (role == "attack" && argc > 2) return run_attack(orders_of(argv[2], parse(argc, argv, 3)));
  throw std::invalid_argument(role);
}

}  // namespace
}  // namespace iwarp::siege

int main(int argc, char** argv) {
  const auto stop = [](int) { iwarp::siege::stopped = 1; };
  std::signal(SIGTERM, stop);
  std::signal(SIGINT, stop);
  std::signal(SIGUSR1, [](int) { iwarp::siege::asked = 1; });
  iwarp::siege::raise_limit();
  try {
    iwarp::siege::run(argc, argv);
    return 0;
  } catch (const std::logic_error& wrong) {
    std::cerr << "siege_attackers: what is '" << wrong.what() << "'?\n" << iwarp::siege::kUsage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "siege_attackers: " << error.what() << '\n';
    return 1;
  }
}
