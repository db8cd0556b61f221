#pragma once

#include <poll.h>
#include <sys/select.h>

#include <cerrno>
#include <vector>

namespace iwarp::rsocket {

/// A select(2) expressed as a poll(2): the entries of its sets, and the sets that the answer makes.
class SelectCall {
 public:
  SelectCall(int count, fd_set* readable, fd_set* writable, fd_set* except)
      : readable_(readable), writable_(writable), except_(except) {
    for (int fd = 0; fd < count; ++fd) {
      const int events = asked(fd, readable, kReadable) | asked(fd, writable, kWritable) |
                         asked(fd, except, POLLPRI);
      if (events != 0)
        fds_.push_back({.fd = fd, .events = static_cast<short>(events), .revents = 0});
    }
  }

  [[nodiscard]] std::vector<pollfd>& fds() { return fds_; }

  /// Writes the sets from the revents. Returns what select does, or -EBADF.
  int answer() {
    for (const pollfd& each : fds_) {
      if ((each.revents & POLLNVAL) != 0) return -EBADF;
    }
    return answer_set(readable_, kReadable, kReadable | POLLHUP | POLLERR) +
           answer_set(writable_, kWritable, kWritable | POLLERR) +
           answer_set(except_, POLLPRI, POLLPRI);
  }

 private:
  static constexpr int kReadable = POLLIN | POLLRDNORM;
  static constexpr int kWritable = POLLOUT | POLLWRNORM;

  static int asked(int fd, const fd_set* set, int events) {
    return set != nullptr && FD_ISSET(fd, set) ? events : 0;
  }

  int answer_set(fd_set* set, int asked_for, int meaning) {
    if (set == nullptr) return 0;
    int found = 0;
    for (const pollfd& each : fds_) {
      if ((each.events & asked_for) == 0) continue;
      if ((each.revents & meaning) != 0)
        ++found;
      else
        FD_CLR(each.fd, set);
    }
    return found;
  }

  fd_set *readable_, *writable_, *except_;
  std::vector<pollfd> fds_;
};

}  // namespace iwarp::rsocket
