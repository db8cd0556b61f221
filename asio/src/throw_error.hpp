#pragma once

#include <boost/system/system_error.hpp>
#include <utility>

#include "iwarp/asio/error.hpp"

namespace iwarp::asio::detail {

/// The same error for users of Asio.
inline error_code to_error_code(const std::error_code& code) {
  // The system's and the generic codes are both errno's; Asio's own constants are of the first.
  return {code.value(), boost::system::system_category()};
}

/// What operations end with that a forked child has inherited, or starts on what it has inherited.
inline error_code no_device() {
  return to_error_code(std::make_error_code(std::errc::no_such_device));
}

/// The value, or a boost::system::system_error that says what the Error says.
template <typename T>
T value_or_throw(verbs::Outcome<T> outcome) {
  if (!outcome) {
    throw boost::system::system_error(to_error_code(outcome.error().code), outcome.error().message);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*outcome);
}

}  // namespace iwarp::asio::detail
