#pragma once

#include <span>
#include <string>
#include <vector>

namespace iwarp::cli {

/// The command line of `iwarp run`, in two parts.
struct RunCommandLine {
  std::size_t own = 0;               ///< So many arguments, from argv[0] on, are iwarp's.
  std::vector<std::string> program;  ///< The program and its arguments, untouched.
};

/// Cuts a command line (argv) where `run` names its program: at `--`, or at the first argument that
/// is neither an option nor an option's value. What stands behind belongs to the program, even if
/// it looks like ours. A command line of another subcommand is all iwarp's.
RunCommandLine split_run_command_line(std::span<char* const> arguments);

}  // namespace iwarp::cli
