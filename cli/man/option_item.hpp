#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace iwarp::cli::man {

/// In roff, the names of an option and what its value is called: "-q, --quiet", "--depth N".
std::string option_tag(const CLI::Option& option);

/// In roff, what the option does, which values it takes and which it has by default.
std::string option_text(const CLI::Option& option);

}  // namespace iwarp::cli::man
