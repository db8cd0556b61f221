#pragma once

#include <CLI/CLI.hpp>

#include "completion/completion.hpp"

namespace iwarp::cli {

/// `iwarp complete -- iwarp put --ha`: what the shells ask (completion/shells). A line says
/// "candidates", "files", "directories" or "program INDEX"; the candidates follow, a line each,
/// with their description behind a tab. No help lists it.
void add_complete_command(CLI::App& app, ValueSources sources);

}  // namespace iwarp::cli
