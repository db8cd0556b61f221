#include "core/process_end.hpp"

#include <unistd.h>

#include <atomic>

namespace iwarp::compat {
namespace {

std::atomic<bool> ending{false};

}  // namespace

void begin_process_end() { ending.store(true); }

bool process_is_ending() { return ending.load(std::memory_order_relaxed); }

void wait_for_process_end() {
  for (;;) ::pause();
}

}  // namespace iwarp::compat
