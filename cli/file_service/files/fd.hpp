#pragma once

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "iwarp/base/result.hpp"

namespace iwarp::cli::file_service {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int value) : value_(value) {}
  Fd(Fd&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Fd() {
    if (value_ >= 0) ::close(value_);
  }

  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }

 private:
  int value_ = -1;
};

/// The value of a file operation, or its errno as an error_code of the generic category.
template <typename T>
using FileResult = Result<T, std::error_code>;

/// The current errno as the error of a FileResult.
inline Failure<std::error_code> errno_failure() {
  return {std::error_code(errno, std::generic_category())};
}
inline Failure<std::error_code> file_failure(std::errc code) {
  return {std::make_error_code(code)};
}

}  // namespace iwarp::cli::file_service
