#pragma once

#include <CLI/CLI.hpp>

#include "context.hpp"

namespace iwarp::cli {

/// Registers `conform`; see commands.hpp.
void add_conform_command(CLI::App& app, Context& context);

}  // namespace iwarp::cli
