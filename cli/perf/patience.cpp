#include "perf/patience.hpp"

#include "context.hpp"
#include "interrupt.hpp"

namespace iwarp::cli::perf {

void Patience::allow(std::chrono::nanoseconds limit) {
  limit_ = limit;
  deadline_ = std::chrono::steady_clock::now() + limit_;
  moved_ = false;
}

void Patience::check() {
  InterruptGuard::check();
  if (moved_) {
    allow(limit_);
    return;
  }
  if (std::chrono::steady_clock::now() < deadline_) return;
  const auto seconds = std::chrono::duration<double>(limit_).count();
  throw PeerSilent(fmt::format("the peer showed no sign of life for {:g} s", seconds));
}

}  // namespace iwarp::cli::perf
