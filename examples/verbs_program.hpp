#pragma once

// What is around the examples of the verbs and not about RDMA: values or exceptions, addresses,
// descriptors for poll(2), Ctrl-C as one of them.
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iwarp/verbs/verbs.hpp>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include "command_line.hpp"

namespace examples {

template <typename T>
T must(iwarp::verbs::Outcome<T> outcome) {  // or end with the reason
  if (!outcome) throw std::runtime_error(outcome.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*outcome);
}

inline void must(const iwarp::Result<void, iwarp::verbs::PostError>& posted) {
  if (!posted) throw std::runtime_error(posted.error().message());
}

/// Where to listen, or whom to connect to.
inline iwarp::verbs::Endpoint address_of(const command_line& given) {
  return must(iwarp::verbs::Endpoint::parse(given.host + ':' + given.port));
}

/// A descriptor of its own.
class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {
    if (fd < 0) throw std::system_error(errno, std::generic_category());
  }
  ~descriptor() { close(fd_); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

inline sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

/// Ctrl-C ends the program no more, but makes signalfd(2) readable. Before there are other threads.
inline void block_interrupts() {
  const sigset_t signals = interrupts();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

inline int interrupt_descriptor() {
  const sigset_t signals = interrupts();
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace examples
