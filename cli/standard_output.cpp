#include "standard_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <system_error>

#include "context.hpp"

namespace iwarp::cli {
namespace {

/// Opens what is closed of 0, 1 and 2, the wrong way round: input for writing, outputs for reading.
void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free, so this one.
    ::open("/dev/null", (descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

}  // namespace

StandardOutput::StandardOutput() : before_(std::cout.rdbuf(this)) {
  hold_standard_descriptors();
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

StandardOutput::~StandardOutput() {
  write_all();
  std::cout.rdbuf(before_);
}

StandardOutput::int_type StandardOutput::overflow(int_type next) {
  if (!write_all()) return traits_type::eof();
  if (!traits_type::eq_int_type(next, traits_type::eof())) sputc(traits_type::to_char_type(next));
  return traits_type::not_eof(next);
}

int StandardOutput::sync() { return write_all() ? 0 : -1; }

bool StandardOutput::write_all() {
  const char* at = pbase();
  while (reason_ == 0 && at < pptr()) {
    const ssize_t written = ::write(STDOUT_FILENO, at, static_cast<std::size_t>(pptr() - at));
    if (written >= 0) {
      at += written;
    } else if (errno == EAGAIN) {  // a program that shares it made it non-blocking
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      reason_ = errno;
    }
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return reason_ == 0;
}

void require_standard_output() {
  std::cout.flush();
  const auto* const ours = dynamic_cast<const StandardOutput*>(std::cout.rdbuf());
  const int reason = ours == nullptr ? 0 : ours->reason_;
  if (reason == 0 && std::cout) return;
  throw CommandError("cannot write to standard output" +
                     (reason == 0 ? "" : ": " + std::generic_category().message(reason)));
}

}  // namespace iwarp::cli
