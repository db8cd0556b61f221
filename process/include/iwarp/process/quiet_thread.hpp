#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace iwarp::process {

/// A thread of the library's own, at which the program's signals do not arrive: a program that
/// blocks a signal in its threads, to wait for it, must get it there. Those that a thread causes
/// itself are not blocked. Throws std::system_error.
template <typename Function>
std::thread quiet_thread(Function function) {
  class Blocked {
   public:
    Blocked() {
      sigset_t blocked;
      sigfillset(&blocked);
      for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
        sigdelset(&blocked, own);
      }
      pthread_sigmask(SIG_SETMASK, &blocked, &before_);
    }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

   private:
    sigset_t before_{};
  };
  const Blocked inherited;
  return std::thread(std::move(function));
}

}  // namespace iwarp::process
