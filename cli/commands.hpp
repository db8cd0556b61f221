#pragma once

#include <CLI/CLI.hpp>

#include "context.hpp"

/// The subcommands. Each function registers one on `app`; `context` outlives the parsing, during
/// which the chosen subcommand runs.
namespace iwarp::cli {

void add_agent_command(CLI::App& app, Context& context);
void add_conform_command(CLI::App& app, Context& context);
void add_devices_command(CLI::App& app, Context& context);
void add_serve_command(CLI::App& app, Context& context);
void add_put_command(CLI::App& app, Context& context);
void add_get_command(CLI::App& app, Context& context);
/// `iwarp help put`: what `iwarp put --help` prints.
void add_help_command(CLI::App& app);
void add_ls_command(CLI::App& app, Context& context);
void add_perf_command(CLI::App& app, Context& context);
/// The program is what main() found in the command line before parsing: context.program.
void add_run_command(CLI::App& app, Context& context);

}  // namespace iwarp::cli
