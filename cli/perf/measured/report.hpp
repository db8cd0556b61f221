#pragma once

#include <string>

#include "perf/measured/results.hpp"

namespace iwarp::cli::perf {

/// The results as one JSON object.
std::string to_json(const Results& results);
/// The results as a few lines for people.
std::string to_text(const Results& results);

}  // namespace iwarp::cli::perf
