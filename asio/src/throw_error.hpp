#pragma once

#include <boost/system/system_error.hpp>
#include <string>
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

/// A boost::system::system_error that says what the Error says: what() ends with the words of the
/// code, which the message need not have as well.
inline boost::system::system_error exception_of(const verbs::Error& error) {
  const error_code code = to_error_code(error.code);
  std::string message = error.message;
  if (const std::string end = ": " + code.message(); message.ends_with(end)) {
    message.resize(message.size() - end.size());
  }
  return {code, message};
}

/// The value, or that exception.
template <typename T>
T value_or_throw(verbs::Outcome<T> outcome) {
  if (!outcome) throw exception_of(outcome.error());
  if constexpr (!std::is_void_v<T>) return std::move(*outcome);
}

}  // namespace iwarp::asio::detail
