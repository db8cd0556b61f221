#pragma once

#include <string>
#include <system_error>

#include "iwarp/base/export.hpp"
#include "iwarp/base/result.hpp"

namespace iwarp::verbs {

/// Why a verb failed: an errno-like code for programs and one sentence for people, which names the
/// object and what was wrong with it.
struct IWARP_API Error {
  std::error_code code;  ///< For programs, to be compared with std::errc.
  std::string message;   ///< For people: one sentence without a full stop, in English.
};

/// The value of a control verb, or an Error. The data path (post, poll) never makes strings.
template <typename T>
using Outcome = Result<T, Error>;

/// An Error with a generic errno code, ready to be returned.
inline Failure<Error> fail(std::errc code, std::string message) {
  return {Error{std::make_error_code(code), std::move(message)}};
}

}  // namespace iwarp::verbs
