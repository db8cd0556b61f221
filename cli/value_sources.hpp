#pragma once

#include "completion/completion.hpp"

namespace iwarp::cli {

/// The values of options that depend on the host and on the conformance suite.
ValueSources value_sources();

}  // namespace iwarp::cli
