#pragma once

#include <string>
#include <vector>

#include "harness/case.hpp"

namespace iwarp::cli {

/// Which cases of the catalogue a run is about.
struct Selection {
  std::vector<std::string> ids;     ///< Cases, groups ("mpa.startup") or requirements; empty: all.
  std::vector<std::string> layers;  ///< Empty: all.
};

/// In the order of the catalogue. A CommandError of status 2 names an id that is none.
std::vector<conform::Case> select(const Selection& selection);

/// The requirements that a case tests.
std::vector<std::string> requirements_of(std::string_view case_id);

}  // namespace iwarp::cli
