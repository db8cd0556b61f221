#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "context.hpp"

namespace iwarp::cli {

/// The program's options and subcommands, as the program parses them and as the manual pages show
/// them. `context` outlives what is returned.
std::unique_ptr<CLI::App> make_app(Context& context);

}  // namespace iwarp::cli
