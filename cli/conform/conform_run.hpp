#pragma once

#include <string>

#include "conform/selection.hpp"
#include "context.hpp"

namespace iwarp::cli {

/// What the command line says of a run.
struct ConformOptions {
  bool self = false;
  std::string target, agent;  ///< HOST[:PORT]
  std::string tester_address, private_data, agent_program;
  std::string revive;  ///< A shell command.
  Selection selection;
  int timeout_ms = 3000;
  int revision = 2;
  bool markers = false, relayed = false, fail_fast = false;
  std::string report, departures;  ///< A directory, a file.
};

/// Runs the chosen cases against the target, tells how it goes and writes the report. True if
/// nothing failed. Throws a CommandError for options that do not fit together and for a target or
/// agent that cannot be reached.
bool run_conform(const ConformOptions& options, const Context& context);

}  // namespace iwarp::cli
