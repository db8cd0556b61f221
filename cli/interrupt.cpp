#include "interrupt.hpp"

#include <array>
#include <atomic>
#include <csignal>

#include "context.hpp"

namespace iwarp::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void remember(int /*signal*/) { g_interrupted.store(true); }

void set_handlers(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int signal : kSignals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // Under nohup a hang-up stays ignored.
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted.store(false);
  set_handlers(remember, static_cast<int>(SA_RESETHAND));
}

InterruptGuard::~InterruptGuard() { set_handlers(SIG_DFL, 0); }

bool InterruptGuard::interrupted() { return g_interrupted.load(); }

void InterruptGuard::check() {
  if (interrupted()) throw CommandError("interrupted");
}

}  // namespace iwarp::cli
