#include "events/event_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "iwarp/process/interruption.hpp"
#include "shared/process_end.hpp"

namespace iwarp::compat {

EventFd::EventFd() : fd_(::eventfd(0, EFD_CLOEXEC)) {
  if (!fd_) throw std::system_error(errno, std::generic_category());
}

void EventFd::set() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(fd_.get(), &one, sizeof one) == sizeof one);
}

// Only what is set is read: the descriptor may be blocking.
void EventFd::clear() {
  pollfd ready{fd_.get(), POLLIN, 0};
  std::uint64_t count = 0;
  if (::poll(&ready, 1, 0) == 1) static_cast<void>(::read(fd_.get(), &count, sizeof count) > 0);
}

int await_readable(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return errno;
  pollfd ready{fd, POLLIN, 0};
  for (;;) {
    const bool waits = (flags & O_NONBLOCK) == 0;
    const int found = ::poll(&ready, 1, waits ? -1 : 0);
    if (caller_is_left_behind()) {
      if (!waits) return EAGAIN;
      wait_for_process_end();
    }
    if (found >= 0) return found == 0 ? EAGAIN : 0;
    if (errno != EINTR) return errno;
    if (!process::goes_on_after_signal()) return EINTR;
  }
}

}  // namespace iwarp::compat
