#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace iwarp::cli {

/// What is wrong with the command line, in one sentence that names the wrong word, what was
/// probably meant, and the --help that explains. `root` is the program that threw `error` while it
/// parsed.
std::string mistake_in(const CLI::App& root, const CLI::ParseError& error);

/// What a subcommand finds wrong itself, with the --help that explains.
std::string explained(const CLI::App& root, const std::string& mistake);

/// The subcommand of `command` that is called so, or a CommandError of status 2 that names it.
const CLI::App& subcommand_called(const CLI::App& command, const std::string& name);

}  // namespace iwarp::cli
