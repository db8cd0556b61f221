#pragma once

#include <CLI/CLI.hpp>

#include "context.hpp"

namespace iwarp::cli {

/// Registers `perf server` and `perf HOST:PORT`; see commands.hpp.
void add_perf_command(CLI::App& app, Context& context);

}  // namespace iwarp::cli
