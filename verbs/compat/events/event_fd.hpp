#pragma once

#include "iwarp/process/descriptor.hpp"

namespace iwarp::compat {

/// An eventfd that is readable while it is set. The program may make it non-blocking.
class EventFd {
 public:
  EventFd();

  [[nodiscard]] int get() const { return fd_.get(); }
  void set();
  void clear();

 private:
  process::Descriptor fd_;
};

/// Waits until `fd` is readable; at once EAGAIN if it is non-blocking and is not. A cancellation
/// point. 0, or an errno: EINTR after a signal whose handler does not let calls go on (SA_RESTART).
/// For a thread that the end of the process leaves behind nothing is readable any more.
int await_readable(int fd);

}  // namespace iwarp::compat
