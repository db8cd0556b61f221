// How long a cache line takes from one processor to another and back: on a virtual machine, whose
// host moves its processors about, that changes from second to second, and with it what any two
// processes can do that hand each other data.
#include <pthread.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace iwarp::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRoundTrips = 20'000;

int processor_of(const char* text) {
  const auto end = text + std::strlen(text);
  int processor = -1;
  const auto [read, error] = std::from_chars(text, end, processor);
  if (error != std::errc() || read != end || processor < 0 || processor >= CPU_SETSIZE) {
    throw std::invalid_argument("no processor: '" + std::string(text) + '\'');
  }
  return processor;
}

void keep_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
  if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_setaffinity_np");
}

// The turns of two threads: the one passes the odd ones, the other the even ones.
void await(const std::atomic<int>& turn, int wanted) {
  while (turn.load(std::memory_order_acquire) != wanted) {
  }
}

std::chrono::nanoseconds round_trip(int one, int other) {
  if (one == other) throw std::runtime_error("two processors are needed, not one");
  keep_to(other);  // so that an unknown processor is told before there is a second thread
  keep_to(one);
  alignas(64) std::atomic<int> turn{0};
  std::thread answering([&turn, other] {
    keep_to(other);
    for (int i = 0; i < kRoundTrips; ++i) {
      await(turn, 2 * i + 1);
      turn.store(2 * i + 2, std::memory_order_release);
    }
  });
  turn.store(1, std::memory_order_release);
  await(turn, 2);
  const auto begin = Clock::now();
  for (int i = 1; i < kRoundTrips; ++i) {
    turn.store(2 * i + 1, std::memory_order_release);
    await(turn, 2 * i + 2);
  }
  const auto took = Clock::now() - begin;
  answering.join();
  return took / (kRoundTrips - 1);
}

}  // namespace

std::chrono::nanoseconds measure(const char* one, const char* other) {
  return round_trip(processor_of(one), processor_of(other));
}

}  // namespace iwarp::bench

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: core_distance PROCESSOR PROCESSOR\n";
    return 2;
  }
  const auto time = iwarp::bench::measure(argv[1], argv[2]);
  std::cout << nlohmann::json{{"round_trip_ns", time.count()}}.dump() << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << "core_distance: " << error.what() << '\n';
  return 1;
}
