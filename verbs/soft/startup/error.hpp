#pragma once

#include <chrono>
#include <string>
#include <system_error>

#include "iwarp/mpa/error.hpp"
#include "iwarp/verbs/connection.hpp"
#include "iwarp/verbs/error.hpp"

/// The errors of a start-up, as the user sees them.
namespace iwarp::verbs::soft {

/// "192.0.2.1:4791", or "[2001:db8::1]:4791".
std::string to_text(const Endpoint& endpoint);

/// "10 s" for whole seconds, else "1500 ms".
std::string to_text(std::chrono::milliseconds time);

/// `what` and why the system, or the peer's end of the stream, did not let it be.
Error stream_error(const std::string& what, std::error_code reason);

/// `what` and why MPA did not let it be.
Error mpa_error(const std::string& what, mpa::Error reason);

}  // namespace iwarp::verbs::soft
