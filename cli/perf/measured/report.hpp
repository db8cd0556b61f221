#pragma once

#include <cstddef>
#include <string>

#include "perf/measured/results.hpp"

namespace iwarp::cli::perf {

/// The results as one JSON object.
std::string to_json(const Results& results);
/// The results as a few lines for people, of at most so many columns if they are thirty or more.
std::string to_text(const Results& results, std::size_t columns);

}  // namespace iwarp::cli::perf
