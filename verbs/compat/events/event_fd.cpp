#include "events/event_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
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

// The descriptor may be blocking: nothing waits here. Where an eventfd cannot be read so (kernels
// before 5.8, filters of system calls) it is asked first whether there is anything.
void EventFd::clear() {
  std::uint64_t count = 0;
  iovec into{&count, sizeof count};
  if (::preadv2(fd_.get(), &into, 1, -1, RWF_NOWAIT) >= 0 || errno == EAGAIN) return;
  pollfd ready{fd_.get(), POLLIN, 0};
  if (::poll(&ready, 1, 0) == 1) static_cast<void>(::read(fd_.get(), &count, sizeof count) > 0);
}

int await_event(int fd, const WaitForEvent& wait) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return errno;
  if ((flags & O_NONBLOCK) != 0) return EAGAIN;
  for (;;) {
    const int found = wait();
    if (caller_is_left_behind()) wait_for_process_end();
    if (found > 0) return 0;
    if (errno != EINTR) return errno;
    if (!process::goes_on_after_signal()) return EINTR;
  }
}

int await_readable(int fd) {
  return await_event(fd, [fd] {
    pollfd ready{fd, POLLIN, 0};
    return ::poll(&ready, 1, -1);
  });
}

}  // namespace iwarp::compat
