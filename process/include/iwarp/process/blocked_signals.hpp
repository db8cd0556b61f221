#pragma once

#include <pthread.h>
#include <signal.h>

namespace iwarp::process {

/// While it lives the program's signals do not arrive at the thread that has made it. Those that a
/// thread causes itself do, even if the program blocks them: of an access to memory that is not
/// there, for example, which the stack makes on purpose (memory_faults.hpp).
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t blocked;
    ::sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
      ::sigdelset(&blocked, own);
    }
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// What was blocked before: for calls that wait, and let signals through meanwhile.
  [[nodiscard]] const sigset_t& before() const { return before_; }
  /// Whether the signals of memory that is not there arrived before, and will again.
  [[nodiscard]] bool admitted_memory_faults() const {
    return ::sigismember(&before_, SIGSEGV) == 0 && ::sigismember(&before_, SIGBUS) == 0;
  }

 private:
  sigset_t before_{};
};

}  // namespace iwarp::process
