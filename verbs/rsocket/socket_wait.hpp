#pragma once

#include <array>
#include <cerrno>

#include "socket.hpp"

namespace iwarp::rsocket {

/// When a time-out of SO_RCVTIMEO or SO_SNDTIMEO that begins now ends; never if it is zero.
inline Deadline deadline_of(const timeval& limit) {
  if (limit.tv_sec == 0 && limit.tv_usec == 0) return std::nullopt;
  return Clock::now() + std::chrono::seconds(limit.tv_sec) +
         std::chrono::microseconds(limit.tv_usec);
}

template <typename Ready>
int Socket::wait(Lock& lock, const Deadline& deadline, Ready ready, Closed closed) {
  const auto polls_until = Clock::now() + options_.polling_time;
  while (true) {
    if (advance()) waiters_.wake_all();
    if (closed_ && closed == Closed::kFails) return EBADF;
    if (ready()) return 0;
    if (passed(deadline)) return EAGAIN;
    if (Clock::now() < polls_until) {
      // Another thread may want it meanwhile.
      lock.unlock();
      lock.lock();
      continue;
    }
    if (prepare_sleep()) continue;
    if (const int error = sleep(lock, deadline); error != 0) return error;
  }
}

}  // namespace iwarp::rsocket
