#pragma once

#include <unistd.h>

#include <utility>

namespace iwarp::process {

/// Owns a file descriptor and closes it.
class Descriptor {
 public:
  Descriptor() = default;  ///< Owns none.
  /// Takes `fd`; -1 is none.
  explicit Descriptor(int fd) : fd_(fd) {}
  /// Takes what `other` owns.
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  /// Swaps the two.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// The descriptor, which stays this object's; -1 for none.
  [[nodiscard]] int get() const { return fd_; }
  /// Leaves the descriptor to the caller, who closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  /// Whether it owns one.
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace iwarp::process
