#include "iwarp/process/interruption.hpp"

#include <signal.h>

#include <algorithm>
#include <array>

namespace iwarp::process {
namespace {

// A thread that waits does not cause these; debuggers and sanitizers have handlers for them.
constexpr std::array kCausedByTheThread{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

bool ends_waits(int signal, const sigset_t& blocked) {
  struct sigaction action {};
  if (sigismember(&blocked, signal) != 0 || ::sigaction(signal, nullptr, &action) != 0) {
    return false;
  }
  const bool handled = (action.sa_flags & SA_SIGINFO) != 0 ||
                       (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
  return handled && (action.sa_flags & SA_RESTART) == 0;
}

}  // namespace

bool goes_on_after_signal() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (std::ranges::find(kCausedByTheThread, signal) == kCausedByTheThread.end() &&
        ends_waits(signal, blocked)) {
      return false;
    }
  }
  return true;
}

}  // namespace iwarp::process
