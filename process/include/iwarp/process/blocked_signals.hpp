#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>

namespace iwarp::process {

/// Signals that a thread causes itself: by an access to memory that is not there, for example,
/// which the stack makes on purpose (memory_faults.hpp).
enum class OwnSignals : bool {
  kAsBefore,  ///< They arrive unless the program blocks them.
  kArrive,
};

/// While it lives the program's signals do not arrive at the thread that has made it. Leaves errno
/// as it is.
class BlockedSignals {
 public:
  /// From now on.
  explicit BlockedSignals(OwnSignals own_signals) {
    sigset_t blocked;
    ::sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
      ::sigdelset(&blocked, own);
    }
    ::pthread_sigmask(own_signals == OwnSignals::kArrive ? SIG_SETMASK : SIG_BLOCK, &blocked,
                      &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() {
    const int error = errno;  // handlers of what has come run here
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

  /// What was blocked before: for calls that wait, and let signals through meanwhile.
  [[nodiscard]] const sigset_t& before() const { return before_; }
  /// Whether those of memory that is not there arrived before.
  [[nodiscard]] bool admitted_memory_faults() const {
    return ::sigismember(&before_, SIGSEGV) == 0 && ::sigismember(&before_, SIGBUS) == 0;
  }

 private:
  sigset_t before_{};
};

}  // namespace iwarp::process
