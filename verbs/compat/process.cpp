#include "process.hpp"

#include <pthread.h>

#include <atomic>

namespace iwarp::compat {

namespace {

std::atomic<unsigned> generation{0};

void count_fork() { ++generation; }

}  // namespace

unsigned process_generation() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, count_fork);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace iwarp::compat
