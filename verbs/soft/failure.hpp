#pragma once

#include <exception>
#include <string>

#include "iwarp/verbs/error.hpp"

namespace iwarp::verbs::soft {

/// What a step of the stack has thrown, as a call tells it: std::errc::not_enough_memory, or the
/// system's reason.
Error error_of(const std::exception& thrown, const std::string& what_failed);

/// Tells the log of it, if there is memory for that.
void log_failure(const char* what_failed, const std::exception& thrown) noexcept;

}  // namespace iwarp::verbs::soft
