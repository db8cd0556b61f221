#include "shared/process_end.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace iwarp::compat {
namespace {

pthread_t ender;  // before it is ending
std::atomic<bool> ending{false};

}  // namespace

void begin_process_end() {
  ender = ::pthread_self();
  ending.store(true, std::memory_order_release);
}

bool caller_is_left_behind() {
  return ending.load(std::memory_order_acquire) && ::pthread_equal(ender, ::pthread_self()) == 0;
}

void wait_for_process_end() {
  for (;;) ::pause();
}

}  // namespace iwarp::compat
