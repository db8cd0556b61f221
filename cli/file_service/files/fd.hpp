#pragma once

#include <cerrno>
#include <system_error>

#include "iwarp/base/result.hpp"
#include "iwarp/process/descriptor.hpp"

namespace iwarp::cli::file_service {

using Fd = process::Descriptor;

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
