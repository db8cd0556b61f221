#include "kernel/kernel_timer.hpp"

#include <cerrno>
#include <utility>

namespace iwarp::tcp_offload::kernel {

KernelTimer::KernelTimer(boost::asio::io_context& context) : timer_(context) {}

void KernelTimer::async_wait(std::chrono::nanoseconds delay, TimerHandler handler) {
  const unsigned wait = ++*current_;
  timer_.expires_after(delay);  // ends a wait that is pending
  timer_.async_wait([current = std::weak_ptr<unsigned>(current_), wait,
                     handler = std::move(handler)](boost::system::error_code) mutable {
    const auto now = current.lock();
    if (!now) return;
    // A wait that had expired when it was cancelled is told apart by its number only.
    handler(*now == wait ? std::error_code() : std::error_code(ECANCELED, std::system_category()));
  });
}

void KernelTimer::cancel() {
  ++*current_;
  timer_.cancel();
}

}  // namespace iwarp::tcp_offload::kernel
