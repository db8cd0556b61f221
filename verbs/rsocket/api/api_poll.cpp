// rpoll and rselect.
#include <rdma/rsocket.h>

#include "api/api.hpp"
#include "api/poll.hpp"
#include "api/select_call.hpp"

using iwarp::rsocket::answer;
using iwarp::rsocket::Clock;
using iwarp::rsocket::Deadline;
using iwarp::rsocket::guarded;
using iwarp::rsocket::poll_all;
using iwarp::rsocket::SelectCall;

namespace {

Deadline after(std::chrono::microseconds time) { return Clock::now() + time; }

int poll_masked(pollfd* fds, nfds_t count, int timeout, const sigset_t* mask) {
  if (fds == nullptr && count > 0) return answer(-EFAULT);
  Deadline deadline;
  if (timeout >= 0) deadline = after(std::chrono::milliseconds(timeout));
  return guarded([&] { return poll_all({fds, count}, deadline, mask); });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int rpoll(struct pollfd* fds, nfds_t nfds, int timeout) {
  return poll_masked(fds, nfds, timeout, nullptr);
}

// What <rdma/rsocket.h> has no name for, and librspreload needs.
int iwarp_rppoll(pollfd* fds, nfds_t count, int timeout, const sigset_t* mask) {
  return poll_masked(fds, count, timeout, mask);
}

int rselect(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds,
            struct timeval* timeout) {
  if (nfds < 0 || nfds > FD_SETSIZE) return answer(-EINVAL);
  Deadline deadline;
  if (timeout != nullptr)
    deadline =
        after(std::chrono::seconds(timeout->tv_sec) + std::chrono::microseconds(timeout->tv_usec));
  return guarded([&] {
    SelectCall call(nfds, readfds, writefds, exceptfds);
    const int found = poll_all(call.fds(), deadline);
    return found < 0 ? found : call.answer();
  });
}

}  // extern "C"
#pragma GCC visibility pop
