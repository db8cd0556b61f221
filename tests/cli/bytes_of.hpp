#pragma once

#include <span>
#include <string_view>

#include "iwarp/base/bytes.hpp"

namespace iwarp::cli {

inline ConstBytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace iwarp::cli
