#pragma once

#include <functional>

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

/// Waits for ever, as poll(2) does, and returns what that returns.
using WaitForEvent = std::function<int()>;

/// After a look that has found nothing at `fd`: waits by `wait` until there is something; at once
/// EAGAIN if `fd` is non-blocking. A cancellation point, if `wait` is one. 0, or an errno: EINTR
/// after a signal whose handler does not let calls go on (SA_RESTART). For a thread that the end of
/// the process leaves behind there is nothing any more.
int await_event(int fd, const WaitForEvent& wait);
/// The same, by poll(2), until `fd` is readable.
int await_readable(int fd);

}  // namespace iwarp::compat
