#pragma once

#include <nlohmann/json.hpp>

namespace iwarp::cli {

/// Prints a value on standard output, indented, and flushes. Text that is not UTF-8, such as a file
/// name may be, comes out with replacement characters, control characters as \uXXXX.
void print_json(const nlohmann::json& value);

}  // namespace iwarp::cli
