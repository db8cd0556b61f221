// poll, select and their kin, as rpoll.
#include <poll.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <sys/select.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <span>
#include <vector>

#include "../api/select_call.hpp"
#include "descriptors.hpp"
#include "next.hpp"

using iwarp::rsocket::SelectCall;
using iwarp::rspreload::rsocket_of;

extern "C" {
int __poll_chk(struct pollfd* fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd* fds, nfds_t count, const struct timespec* timeout,
                const sigset_t* mask, size_t room);
[[noreturn]] void __chk_fail();
/// ppoll by rsockets' own numbers, where librdmacm is ours.
__attribute__((weak)) int iwarp_rppoll(pollfd* fds, nfds_t count, int timeout,
                                       const sigset_t* mask);
}

namespace {

bool has_rsocket(std::span<const pollfd> fds) {
  return std::ranges::any_of(fds, [](const pollfd& each) { return rsocket_of(each.fd) >= 0; });
}

bool has_rsocket(int count, const fd_set* set) {
  for (int fd = 0; set != nullptr && fd < count; ++fd) {
    if (FD_ISSET(fd, set) && rsocket_of(fd) >= 0) return true;
  }
  return false;
}

/// A signal mask for the length of a call.
class MaskGuard {
 public:
  explicit MaskGuard(const sigset_t* mask) { pthread_sigmask(SIG_SETMASK, mask, &before_); }
  ~MaskGuard() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  MaskGuard(const MaskGuard&) = delete;
  MaskGuard& operator=(const MaskGuard&) = delete;

 private:
  sigset_t before_{};
};

/// Elsewhere a signal that comes just before the sleep does not end it.
int poll_masked(std::span<pollfd> fds, int timeout, const sigset_t* mask) {
  if (mask == nullptr) return rpoll(fds.data(), fds.size(), timeout);
  if (iwarp_rppoll != nullptr) return iwarp_rppoll(fds.data(), fds.size(), timeout, mask);
  const MaskGuard guard(mask);
  return rpoll(fds.data(), fds.size(), timeout);
}

/// By the rsockets' own numbers.
int poll_rsockets(std::span<pollfd> fds, int timeout, const sigset_t* mask = nullptr) {
  std::vector<pollfd> own(fds.begin(), fds.end());
  for (pollfd& each : own) {
    if (const int rsocket = rsocket_of(each.fd); rsocket >= 0) each.fd = rsocket;
  }
  const int found = poll_masked(own, timeout, mask);
  for (std::size_t each = 0; found >= 0 && each < own.size(); ++each)
    fds[each].revents = own[each].revents;
  return found;
}

/// Milliseconds, rounded up so that no thread wakes early; -1 for ever.
template <typename Time>
int milliseconds_of(const Time* time, long parts_per_millisecond, long part) {
  if (time == nullptr) return -1;
  const long long milliseconds =
      time->tv_sec * 1000LL + (part + parts_per_millisecond - 1) / parts_per_millisecond;
  return static_cast<int>(std::clamp<long long>(milliseconds, 0, INT_MAX));
}

int milliseconds_of(const timespec* time) {
  return milliseconds_of(time, 1'000'000, time != nullptr ? time->tv_nsec : 0);
}

int milliseconds_of(const timeval* time) {
  return milliseconds_of(time, 1000, time != nullptr ? time->tv_usec : 0);
}

int select_rsockets(int count, fd_set* readable, fd_set* writable, fd_set* except, int timeout,
                    const sigset_t* mask = nullptr) {
  SelectCall call(count, readable, writable, except);
  if (poll_rsockets(call.fds(), timeout, mask) < 0) return -1;
  const int found = call.answer();
  if (found >= 0) return found;
  errno = -found;
  return -1;
}

bool any_rsocket(int count, const fd_set* readable, const fd_set* writable, const fd_set* except) {
  return count >= 0 && count <= FD_SETSIZE &&
         (has_rsocket(count, readable) || has_rsocket(count, writable) ||
          has_rsocket(count, except));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int poll(struct pollfd* fds, nfds_t count, int timeout) {
  return has_rsocket({fds, count}) ? poll_rsockets({fds, count}, timeout)
                                   : NEXT(poll)(fds, count, timeout);
}

int ppoll(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  if (!has_rsocket({fds, count})) return NEXT(ppoll)(fds, count, timeout, mask);
  return poll_rsockets({fds, count}, milliseconds_of(timeout), mask);
}

int __poll_chk(struct pollfd* fds, nfds_t count, int timeout, size_t room) {
  if (count > room / sizeof *fds) __chk_fail();
  return poll(fds, count, timeout);
}

int __ppoll_chk(struct pollfd* fds, nfds_t count, const struct timespec* timeout,
                const sigset_t* mask, size_t room) {
  if (count > room / sizeof *fds) __chk_fail();
  return ppoll(fds, count, timeout, mask);
}

int select(int count, fd_set* readable, fd_set* writable, fd_set* except, struct timeval* timeout) {
  if (!any_rsocket(count, readable, writable, except))
    return NEXT(select)(count, readable, writable, except, timeout);
  return select_rsockets(count, readable, writable, except, milliseconds_of(timeout));
}

int pselect(int count, fd_set* readable, fd_set* writable, fd_set* except,
            const struct timespec* timeout, const sigset_t* mask) {
  if (!any_rsocket(count, readable, writable, except))
    return NEXT(pselect)(count, readable, writable, except, timeout, mask);
  return select_rsockets(count, readable, writable, except, milliseconds_of(timeout), mask);
}

}  // extern "C"
#pragma GCC visibility pop
