#pragma once

#include <string_view>

#include "harness/runner.hpp"

namespace iwarp::conform {

/// The connections of a case as a pcapng file: what the sockets moved and when, with made-up
/// Ethernet, IP and TCP headers. `application`: what made it.
Octets capture_of(const Result& result, std::string_view application);

}  // namespace iwarp::conform
