// rpoll and rselect.
#include <rdma/rsocket.h>

#include <vector>

#include "api.hpp"
#include "poll.hpp"

using iwarp::rsocket::answer;
using iwarp::rsocket::Clock;
using iwarp::rsocket::Deadline;
using iwarp::rsocket::guarded;
using iwarp::rsocket::poll_all;

namespace {

constexpr short kReadable = POLLIN | POLLRDNORM | POLLHUP | POLLERR;
constexpr short kWritable = POLLOUT | POLLWRNORM | POLLERR;
constexpr short kExcept = POLLPRI;

/// The sets of a select as entries for poll.
struct SelectCall {
  int count;
  fd_set *readable, *writable, *except;
  std::vector<pollfd> fds;

  void collect() {
    for (int fd = 0; fd < count; ++fd) {
      short events = 0;
      if (readable != nullptr && FD_ISSET(fd, readable)) events |= POLLIN | POLLRDNORM;
      if (writable != nullptr && FD_ISSET(fd, writable)) events |= POLLOUT | POLLWRNORM;
      if (except != nullptr && FD_ISSET(fd, except)) events |= POLLPRI;
      if (events != 0) fds.push_back({.fd = fd, .events = events, .revents = 0});
    }
  }

  int answer_set(fd_set* set, short asked, short meaning) const {
    if (set == nullptr) return 0;
    int found = 0;
    for (const pollfd& each : fds) {
      const bool is_set = (each.events & asked) != 0 && (each.revents & meaning) != 0;
      if (is_set) ++found;
      if ((each.events & asked) != 0 && !is_set) FD_CLR(each.fd, set);
    }
    return found;
  }

  [[nodiscard]] bool has_bad() const {
    for (const pollfd& each : fds) {
      if ((each.revents & POLLNVAL) != 0) return true;
    }
    return false;
  }

  int answer() const {
    if (has_bad()) return -EBADF;
    return answer_set(readable, POLLIN, kReadable) + answer_set(writable, POLLOUT, kWritable) +
           answer_set(except, POLLPRI, kExcept);
  }
};

Deadline after(std::chrono::microseconds time) { return Clock::now() + time; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int rpoll(struct pollfd* fds, nfds_t nfds, int timeout) {
  if (fds == nullptr && nfds > 0) return answer(-EFAULT);
  Deadline deadline;
  if (timeout >= 0) deadline = after(std::chrono::milliseconds(timeout));
  return guarded([&] { return poll_all({fds, nfds}, deadline); });
}

int rselect(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds,
            struct timeval* timeout) {
  if (nfds < 0 || nfds > FD_SETSIZE) return answer(-EINVAL);
  Deadline deadline;
  if (timeout != nullptr)
    deadline =
        after(std::chrono::seconds(timeout->tv_sec) + std::chrono::microseconds(timeout->tv_usec));
  return guarded([&] {
    SelectCall call{nfds, readfds, writefds, exceptfds, {}};
    call.collect();
    const int found = poll_all(call.fds, deadline);
    return found < 0 ? found : call.answer();
  });
}

}  // extern "C"
#pragma GCC visibility pop
