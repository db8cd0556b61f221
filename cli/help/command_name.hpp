#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace iwarp::cli {

/// The program that a subcommand belongs to.
const CLI::App& root_of(const CLI::App& command);

/// "iwarp perf server", or with another separator "iwarp-perf-server".
std::string full_name(const CLI::App& command, char separator = ' ');

/// The subcommands that --help lists, which hidden ones are not, in its order.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);

/// The options and arguments that --help lists, in its order.
std::vector<const CLI::Option*> options_of(const CLI::App& command);

/// The subcommand that was chosen last, below which none was; the program itself if none was.
const CLI::App& chosen_command(const CLI::App& root);

}  // namespace iwarp::cli
