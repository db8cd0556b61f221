#pragma once

#include <string>

#include "report/report.hpp"

namespace iwarp::conform {

/// The data of the page as JSON that may stand in a script element: no '<' in it, whatever the
/// target has said. page/model.js reads it, and says what is where.
std::string page_data_of(const Report& report);

}  // namespace iwarp::conform
