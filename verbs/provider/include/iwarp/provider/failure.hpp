#pragma once

#include <exception>
#include <string>
#include <system_error>

#include "iwarp/verbs/error.hpp"

namespace iwarp::verbs {

/// What a step of the stack has thrown: std::errc::not_enough_memory, the system's reason, or
/// std::errc::io_error for anything else.
std::error_code code_of(const std::exception& thrown) noexcept;

/// The same as a call tells it.
Error error_of(const std::exception& thrown, const std::string& what_failed);

/// The same, where there may be no memory for a sentence: then what is said is short enough to take
/// none. `what_failed` makes the text.
template <typename What>
Error short_error_of(const std::exception& thrown, What what_failed) noexcept {
  try {
    return error_of(thrown, what_failed());
  } catch (const std::exception&) {
    return {code_of(thrown), "out of memory"};
  }
}

/// Tells the log of it, if there is memory for that.
void log_failure(const char* what_failed, const std::exception& thrown) noexcept;

/// Calls a handler of the program. What it throws ends that call, and no more: the log hears of it.
template <typename Call>
void call_program(Call call) {
  try {
    call();
  } catch (const std::exception& thrown) {
    log_failure("a handler of the program has failed", thrown);
  }
}

}  // namespace iwarp::verbs
