#pragma once

namespace iwarp::cli {

/// Parses the command line, runs the chosen subcommand and returns the exit status; a mistake in
/// the command line is told on standard error. Throws what ends a subcommand.
int parse_and_run(int argc, char** argv);

}  // namespace iwarp::cli
