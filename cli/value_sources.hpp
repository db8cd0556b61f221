#pragma once

#include <CLI/CLI.hpp>

#include "completion/completion.hpp"

namespace iwarp::cli {

/// The values of options that depend on the host, the conformance suite and the program itself.
/// `app` outlives what is returned.
ValueSources value_sources(const CLI::App& app);

}  // namespace iwarp::cli
